#include "analyzer/read/loss_causes.h"

#include <algorithm>
#include <array>

#include "store/load_loss.h"
#include "uscope/record.h"

namespace uscope::analyzer {
namespace {

struct Cause {
  const char* name;
  const char* meaning;
};

constexpr std::array kCauses{
#define USC_X(constant, name, meaning, numbered) Cause{name, meaning},
#include "uscope/lists/loss.def"
#undef USC_X
    Cause{store::kFileChanged, store::kFileChangedMeaning},
};

}  // namespace

std::string loss_meaning(std::string_view cause) {
  const auto* const found =
      std::find_if(kCauses.begin(), kCauses.end(), [&](const Cause& known) { return cause == known.name; });
  return found == kCauses.end() ? "" : found->meaning;
}

bool loses_events(std::string_view cause) {
  constexpr std::array kOthers{USC_LOSS_VERIFY_SKIPPED,   USC_LOSS_ROWS_MEMORY,   USC_LOSS_PERF_MAP_REFUSED,
                               USC_LOSS_RING_FULL_STRING, USC_LOSS_PERF_MAP_SIZE, USC_LOSS_JIT_SPACES_FULL,
                               USC_LOSS_NO_ANSWER};
  return cause != store::kFileChanged && std::none_of(kOthers.begin(), kOthers.end(), [&](usc_loss_cause other) {
           return cause == kCauses[other].name;
         });
}

}  // namespace uscope::analyzer

// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The tables in which the BPF programs sum what a question asks.
#pragma once

#include <array>
#include <cstdint>

#include "support/result.h"
#include "tracer/backend/backend.h"
#include "tracer/backend/bpf_map_memory.h"
#include "uscope/control.h"
#include "uscope/query_counts.h"

struct uscope_bpf;

namespace uscope::tracer {

class BpfSums {
 public:
  // Before the programs are loaded, when maps have the size for each of the CPUs. There may be no question.
  void prepare(uscope_bpf& skeleton, const usc_config& config, std::uint32_t cpus);
  // Once they are loaded.
  Result<void> open(const uscope_bpf& skeleton);
  [[nodiscard]] bool has_question() const { return has_question_; }
  // The rows of one turn, which no program fills any more; its tables are empty then.
  void take(std::uint32_t turn, const Backend::SumHandler& handle);
  // Calls that were taken of those counts which the programs fill without a look at their own statistics.
  [[nodiscard]] std::uint64_t counted() const { return counted_; }

 private:
  void prepare_brief_calls(uscope_bpf& skeleton, const usc_config& config);
  void take_call_counts(std::uint32_t turn, const Backend::SumHandler& handle);
  void take_counts(usc_query_counts& counts, const Backend::SumHandler& handle);

  usc_query question_{};
  bool has_question_ = false;
  bool counts_calls_ = false;      // usc_query_counts_calls()
  bool counts_by_fields_ = false;  // usc_query_counts_by_fields(), which gives the next
  std::array<__u8, USC_QUERY_FIELD_COUNT> word_of_{};
  std::uint64_t counted_ = 0;
  std::uint32_t cpus_ = 0;
  std::uint32_t steps_word_ = 0;  // usc_query_steps_word()
  MapMemory rows_;                // two tables for each CPU
  MapMemory counts_;              // where counts_calls_: for each CPU and turn, by ABI and number
  MapMemory field_counts_;        // where counts_by_fields_: for each CPU and turn
  MapMemory steps_;               // beside them, where steps_word_ is not 0
};

}  // namespace uscope::tracer

// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "symbolizer/names/traced_file.h"

#include <sys/stat.h>

#include <algorithm>

#include "symbolizer/elf/elf_facts.h"
#include "symbolizer/elf/file_writes.h"

namespace uscope::symbolizer {
namespace {

// Whether the same code is at the same addresses. A build-id alone does not prove it: tools that edit a file keep it.
bool has_same_layout(int fd, const TracedFile& file, const std::string& name) {
  const auto facts = read_elf_facts(fd, name);
  if (!facts || facts->build_id != file.build_id) return false;
  const std::size_t most = file.segments.size();  // a trace keeps at most this many
  if (most == 0) return true;
  return facts->exec_segments.size() >= most &&
         std::equal(file.segments.begin(), file.segments.end(), facts->exec_segments.begin(),
                    [](const usc_segment& traced, const Segment& now) {
                      return traced.offset == now.offset && traced.size == now.size && traced.address == now.address;
                    });
}

}  // namespace

bool holds_what_was_traced(int fd, const TracedFile& file, const std::string& name) {
  struct stat status {};
  if (::fstat(fd, &status) != 0) return false;
  if (!file.key) return !file.build_id.empty() && has_same_layout(fd, file, name);
  if (is_untouched(status, *file.key)) return true;
  if (status.st_ino == file.key->ino && !is_unwritten(status, *file.key)) return false;
  return !file.build_id.empty() && has_same_layout(fd, file, name);
}

}  // namespace uscope::symbolizer

#include "tracer/user_rows.h"

#include <algorithm>
#include <utility>

#include "symbolizer/vdso.h"

namespace uscope::tracer {

using symbolizer::RowDetail;
using symbolizer::RowTable;

UserRows::UserRows(const FileTable& files, symbolizer::RowCache& cache, std::size_t most_bytes)
    : files_(files), cache_(cache), most_bytes_(most_bytes) {}

std::shared_ptr<const RowTable> UserRows::get(std::uint32_t serial, RowDetail detail) {
  const File* file = files_.find(serial);
  if (file == nullptr || !file->met) return nullptr;
  if (detail == RowDetail::kStack && file->state != USC_FILE_USER_ONLY) return file->rows;
  const auto found = std::find_if(entries_.begin(), entries_.end(),
                                  [&](const Entry& entry) { return entry.serial == serial && entry.detail == detail; });
  if (found != entries_.end()) {
    entries_.splice(entries_.begin(), entries_, found);
    return found->rows;
  }
  entries_.push_front({serial, detail, make(serial, detail)});
  std::shared_ptr<const RowTable> made = entries_.front().rows;
  if (made) bytes_ += made->bytes();
  while (bytes_ > most_bytes_ && entries_.size() > 1) {
    if (entries_.back().rows) bytes_ -= entries_.back().rows->bytes();
    entries_.pop_back();
  }
  return made;
}

std::shared_ptr<const RowTable> UserRows::make(std::uint32_t serial, RowDetail detail) {
  const File& file = *files_.find(serial);
  if (serial == USC_FILE_VDSO) {
    auto rows = symbolizer::vdso_rows(detail);
    return rows ? std::make_shared<const RowTable>(std::move(*rows)) : nullptr;
  }
  if (!file.fd) return nullptr;
  if (detail == RowDetail::kStack) {
    auto rows = cache_.get(file.fd.get(), file.path);
    return rows ? *rows : nullptr;
  }
  auto rows = symbolizer::build_rows(file.fd.get(), file.path, detail);
  return rows ? std::make_shared<const RowTable>(std::move(*rows)) : nullptr;
}

}  // namespace uscope::tracer

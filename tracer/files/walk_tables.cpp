// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/files/walk_tables.h"

#include <iterator>
#include <utility>

#include "symbolizer/rows/vdso.h"

namespace uscope::tracer {

using symbolizer::RowDetail;
using symbolizer::UnwindTable;

WalkTables::WalkTables(FileTable& files, RowBuildQueue& maker, std::size_t most_bytes)
    : files_(files), maker_(maker), most_bytes_(most_bytes) {}

std::shared_ptr<const UnwindTable> WalkTables::get(trace::FileId serial, RowDetail detail) {
  const File* file = files_.find(serial);
  if (file == nullptr || !file->met) return nullptr;
  if (detail == RowDetail::kStack && file->state != USC_FILE_USER_ONLY) return file->rows;
  if (const auto* rows = find(serial, detail)) {
    if (detail == RowDetail::kStack && *rows) wanted_[serial] = *rows;
    return *rows;
  }
  if (are_coming(serial, detail)) return nullptr;
  if (serial == trace::kVdsoFile) {
    auto rows = symbolizer::vdso_rows(detail);
    insert(serial, detail, rows ? std::make_shared<const UnwindTable>(std::move(*rows)) : nullptr);
  } else if (FileContent content = files_.open_content(*file); !content.fd) {
    insert(serial, detail, nullptr);
  } else {
    const int fd = content.fd.get();
    asked_.insert_or_assign({serial, detail}, std::move(content));
    // on_made() has no error
    (void)maker_.ask({serial, detail, fd, file->path, this, RowWork::kRows, file->payer});
  }
  const auto* rows = find(serial, detail);
  return rows != nullptr ? *rows : nullptr;
}

void WalkTables::keep(trace::FileId serial, std::shared_ptr<const UnwindTable> rows) {
  if (!rows || by_file_.count({serial, RowDetail::kStack}) != 0 || bytes_ + rows->bytes() > most_bytes_) return;
  bytes_ += rows->bytes();
  entries_.push_back({serial, RowDetail::kStack, std::move(rows)});
  by_file_[{serial, RowDetail::kStack}] = std::prev(entries_.end());
}

std::vector<std::pair<trace::FileId, std::shared_ptr<const UnwindTable>>> WalkTables::take_wanted() {
  std::vector<std::pair<trace::FileId, std::shared_ptr<const UnwindTable>>> wanted(wanted_.begin(), wanted_.end());
  wanted_.clear();
  return wanted;
}

bool WalkTables::are_coming(trace::FileId serial, RowDetail detail) const {
  return asked_.count({serial, detail}) != 0;
}

Result<void> WalkTables::on_made(const BuiltTable& made) {
  const auto asked = asked_.extract({made.serial, made.detail});
  const File* file = files_.find(made.serial);
  const bool usable = made.rows && file != nullptr && !asked.empty() && files_.is_unchanged(*file, asked.mapped());
  insert(made.serial, made.detail, usable ? *made.rows : nullptr);
  return {};
}

std::shared_ptr<const UnwindTable>* WalkTables::find(trace::FileId serial, RowDetail detail) {
  const auto found = by_file_.find({serial, detail});
  if (found == by_file_.end()) return nullptr;
  entries_.splice(entries_.begin(), entries_, found->second);
  return &entries_.front().rows;
}

void WalkTables::drop(trace::FileId serial, RowDetail detail) {
  const auto found = by_file_.find({serial, detail});
  if (found == by_file_.end()) return;
  if (found->second->rows) bytes_ -= found->second->rows->bytes();
  entries_.erase(found->second);
  by_file_.erase(found);
}

void WalkTables::insert(trace::FileId serial, RowDetail detail, std::shared_ptr<const UnwindTable> rows) {
  drop(serial, detail);
  if (rows) bytes_ += rows->bytes();
  entries_.push_front({serial, detail, std::move(rows)});
  by_file_[{serial, detail}] = entries_.begin();
  while (bytes_ > most_bytes_ && entries_.size() > 1) {
    drop(entries_.back().serial, entries_.back().detail);
  }
}

}  // namespace uscope::tracer

// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The reader of the row cache's entries: an entry with any content whose magic number, format and digest are right, as
// if somebody had forged it. It is refused, and the rows are built anew; or it is a table that can be walked by.
#include "symbolizer/reader/row_cache.h"

#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>

#include "tables.h"
#include "tiny_elf.h"

namespace {

constexpr std::size_t kDigestBytes = 32;
constexpr std::size_t kHead = 12;    // magic number and format
constexpr std::size_t kCounts = 20;  // text_start, text_end, rows, index, rules

// A folder with the one entry of a small file.
class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "uscope-fuzz-XXXXXX").string();
    uscope::fuzz::require(mkdtemp(name.data()) != nullptr, "a folder");
    path_ = name;
    (void)get();
    for (const auto& item : std::filesystem::directory_iterator(path_)) entry_ = item.path();
    std::ifstream file(entry_, std::ios::binary);
    good_.assign(std::istreambuf_iterator<char>(file), {});
    uscope::fuzz::require(good_.size() > kHead + kCounts + kDigestBytes, "an entry was written");
  }
  ~Folder() {
    std::error_code error;
    std::filesystem::remove_all(path_, error);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::shared_ptr<const uscope::symbolizer::UnwindTable> get() const {
    uscope::symbolizer::RowCache cache(path_);
    auto table = cache.get(elf_.get(), "input");
    uscope::fuzz::require(static_cast<bool>(table), "rows, whatever the cache holds");
    return *table;
  }
  // The input gives the counts and the content; what lies between them and before is made right.
  void put(std::span<const std::uint8_t> input) const {
    std::vector<std::uint8_t> entry(good_.begin(), good_.begin() + kHead);
    const std::size_t counts = std::min(input.size(), kCounts);
    entry.insert(entry.end(), input.begin(), input.begin() + static_cast<std::ptrdiff_t>(counts));
    if (counts == kCounts) {
      const std::vector<std::uint8_t> stats(sizeof(uscope::symbolizer::RowStats));
      std::vector<std::uint8_t> covered = stats;
      covered.insert(covered.end(), input.begin() + kCounts, input.end());
      std::array<std::uint8_t, kDigestBytes> digest{};
      EVP_Digest(covered.data(), covered.size(), digest.data(), nullptr, EVP_sha256(), nullptr);
      entry.insert(entry.end(), stats.begin(), stats.end());
      entry.insert(entry.end(), digest.begin(), digest.end());
      entry.insert(entry.end(), input.begin() + kCounts, input.end());
    }
    std::ofstream file(entry_, std::ios::binary | std::ios::trunc);
    file.write(reinterpret_cast<const char*>(entry.data()), static_cast<std::streamsize>(entry.size()));
  }

 private:
  uscope::UniqueFd elf_ = uscope::fuzz::as_file(uscope::fuzz::tiny_elf(".eh_frame", {}));
  std::string path_;
  std::filesystem::path entry_;
  std::vector<char> good_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Folder folder;
  folder.put(std::span(data, size));
  auto table = *folder.get();
  uscope::fuzz::check_table(table, std::span(data, size));
  return 0;
}

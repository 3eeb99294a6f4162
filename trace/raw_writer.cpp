#include "trace/raw_writer.h"

#include <fcntl.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "trace/raw_record.h"

namespace uscope::trace {
namespace {

constexpr std::size_t kBufferBytes = 1U << 20;

std::string write_remedy(int number) {
  switch (number) {
    case ENOSPC:
    case EDQUOT:
      return "free space on the disk, write elsewhere with -o, or bound the trace with --max-size";
    case EFBIG:
      return "raise the limit on file sizes (ulimit -f), or bound the trace with --max-size";
    default:
      return "look at the disk and at the kernel's log";
  }
}

}  // namespace

RawWriter::RawWriter(UniqueFd file, std::filesystem::path path) : file_(std::move(file)), path_(std::move(path)) {
  buffer_.reserve(kBufferBytes);
}

RawWriter::~RawWriter() {
  if (file_) (void)flush();
}

Result<RawWriter> RawWriter::create(const std::filesystem::path& path, usc_raw_header header) {
  UniqueFd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file) {
    const int number = errno;
    const char* remedy = number == EEXIST ? "remove it, or write elsewhere with -o" : "";
    return errno_error("cannot create the raw trace " + path.string(), number, remedy);
  }
  header.magic = USC_RAW_MAGIC;
  header.header_size = sizeof(header);
  header.record_abi = USC_RECORD_ABI;
  RawWriter writer(std::move(file), path);
  const auto bytes = std::as_bytes(std::span(&header, 1));
  writer.buffer_.assign(bytes.begin(), bytes.end());
  writer.size_ = bytes.size();
  return writer;
}

Result<void> RawWriter::append(std::span<const std::byte> bytes) {
  usc_record head{};
  if (bytes.size() >= sizeof(head)) std::memcpy(&head, bytes.data(), sizeof(head));
  if (head.size != bytes.size() || bytes.size() % 8 != 0 || bytes.size() > kMaxRecordBytes)
    return Error{"a record of " + std::to_string(bytes.size()) + " bytes says that it has " + std::to_string(head.size),
                 "this is a mistake in uscope: please report it"};
  if (buffer_.size() + bytes.size() > kBufferBytes)
    if (auto done = flush(); !done) return done;
  buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
  size_ += bytes.size();
  return {};
}

Result<void> RawWriter::append_meta(std::string_view key, std::string_view value, std::uint64_t time) {
  key = key.substr(0, key.find('\0'));
  value = value.substr(0, value.find('\0'));
  const std::size_t used = sizeof(usc_meta) + key.size() + value.size() + 2;
  std::vector<std::byte> bytes((used + 7) & ~std::size_t{7});
  usc_record head{};
  head.size = static_cast<__u32>(bytes.size());
  head.type = USC_RECORD_META;
  head.cpu = USC_CPU_USER;
  head.time = time;
  std::memcpy(bytes.data(), &head, sizeof(head));
  auto* text = reinterpret_cast<char*>(bytes.data()) + sizeof(usc_meta);
  key.copy(text, key.size());
  value.copy(text + key.size() + 1, value.size());
  return append(bytes);
}

// What could not be written stays in the buffer, so that a later call goes on in the middle of a record.
Result<void> RawWriter::flush() {
  std::size_t written = 0;
  int number = 0;
  while (written < buffer_.size() && number == 0) {
    const ssize_t count = ::write(file_.get(), buffer_.data() + written, buffer_.size() - written);
    if (count > 0) written += static_cast<std::size_t>(count);
    if (count < 0 && errno != EINTR) number = errno;
    if (count == 0) number = EIO;
  }
  buffer_.erase(buffer_.begin(), buffer_.begin() + static_cast<std::ptrdiff_t>(written));
  if (number != 0) return errno_error("cannot write the raw trace " + path_.string(), number, write_remedy(number));
  return {};
}

Result<void> RawWriter::close() {
  auto done = flush();
  const bool closed = ::close(file_.release()) == 0;
  if (done && !closed) return errno_error("cannot write the raw trace " + path_.string(), errno, write_remedy(errno));
  return done;
}

}  // namespace uscope::trace

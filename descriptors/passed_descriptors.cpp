// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The part of DescriptorTracker that follows descriptors through messages (SCM_RIGHTS). The kernel side says of each
// which open file it is, at both ends. A receiver's descriptor is what the sender's was, if the sender is traced and
// the kernel has the same name for both; else it has that name. Senders are looked up at the receiving call's return:
// it may have been entered first.
#include <functional>

#include "descriptors/descriptor_tracker.h"
#include "trace/passed_file.h"

namespace uscope::descriptors {
namespace {

constexpr std::size_t kMostSent = std::size_t{1} << 16;

bool is_passed(const trace::OrderedString& string) {
  return string.kind == USC_STRING_PASSED || string.kind == USC_STRING_PASSED_OUT;
}

std::string proc_name_of_socket(std::uint64_t ino) {
  return "socket:[" + std::to_string(ino) + "]";
}

}  // namespace

std::size_t DescriptorTracker::PassedHash::operator()(const PassedKey& key) const noexcept {
  const std::hash<std::uint64_t> hash;
  return hash(key.ino) ^ (hash(key.dev) << 1U) ^ (hash(static_cast<std::uint64_t>(key.name.value())) << 2U);
}

Result<void> DescriptorTracker::follow_sending(const usc_event& event, DescriptorOwner& owner,
                                               std::span<const trace::OrderedString> strings) {
  for (const trace::OrderedString& string : strings) {
    if (!is_passed(string)) continue;
    const trace::PassedFile file = trace::passed_file(string.numbers);
    const bool late = (string.flags & USC_STRING_LATE) != 0;
    const Descriptor* found = is_said(owner, event.entry_ns) && !late ? known(*owner.table, file.fd) : nullptr;
    Passed passed{string.arg, file.fd, string.string_id, late, file.is_pidfd};
    if (found && found->socket != 0) {
      passed.string_id = sockets_[found->socket - 1].label;
      if (file.ino != 0) sockets_[found->socket - 1].open_file.file = {file.dev, file.ino};
      if (file.is_socket) found_sockets_[proc_name_of_socket(file.ino)] = found->socket;
    } else if (found) {
      passed.string_id = found->name;
      if (sent_.size() >= kMostSent) sent_.clear();
      learn_file(*found, {file.dev, file.ino});
      const auto [at, is_first] = sent_.try_emplace({file.dev, file.ino, string.string_id, file.is_socket}, *found);
      Descriptor& sent = at->second;
      // Of two open files of one file it is not known which of them a message brings.
      const bool is_another = !is_first && sent.open_file.id != found->open_file.id;
      sent = *found;
      if (is_another) sent.open_file = {};
      if (file.is_anonymous) sent.process = {};
    }
    passed_.push_back(passed);
  }
  return {};
}

void DescriptorTracker::follow_receiving(const usc_event& event, DescriptorOwner& owner, const CallFacts& facts,
                                         std::span<const trace::OrderedString> strings) {
  if (event.how != USC_HOW_RETURNED || event.result < 0) return;
  for (const trace::OrderedString& string : strings) {
    if (!is_passed(string)) continue;
    const trace::PassedFile file = trace::passed_file(string.numbers);
    Return update = at_return(Return::Kind::kOpen, event, owner);
    update.fd = file.fd;
    update.passed = PassedKey{file.dev, file.ino, string.string_id, file.is_socket};
    update.descriptor.close_on_exec = facts.close_on_exec.holds(event);
    owner.table->descriptors.begin_open(update.fd);
    passed_.push_back({string.arg, file.fd, name_of_received(*update.passed), false, file.is_pidfd});
    plan(std::move(update));
  }
}

// What a message says of one descriptor holds for all of that open file.
void DescriptorTracker::learn_file(const Descriptor& descriptor, const FoundFile& file) {
  if (file.ino == 0 || descriptor.open_file.file.ino != 0 || !descriptor.open_file.id) return;
  if (learned_files_.size() >= kMostSent) learned_files_.clear();
  learned_files_[descriptor.open_file.id] = file;
}

// As far as the sender is known by now.
trace::TextId DescriptorTracker::name_of_received(const PassedKey& key) const {
  if (key.is_socket) {
    const auto socket = found_sockets_.find(proc_name_of_socket(key.ino));
    const bool is_known = socket != found_sockets_.end() && socket->second != 0;
    return is_known ? sockets_[socket->second - 1].label : key.name;
  }
  const auto sent = sent_.find(key);
  return sent != sent_.end() ? sent->second.name : key.name;
}

// What has come in a message.
Descriptor DescriptorTracker::received(const PassedKey& key) {
  const FoundFile file{key.dev, key.ino};
  Descriptor descriptor{.name = key.name};
  if (key.is_socket) {
    std::uint32_t& socket = found_sockets_[proc_name_of_socket(key.ino)];
    if (socket == 0) socket = new_socket(key.name, new_open_file(true, file));
    descriptor.socket = socket;
    if (socket != 0) descriptor.name = {};
  } else if (const auto sent = sent_.find(key); sent != sent_.end()) {
    descriptor = sent->second;
  }
  if (descriptor.socket == 0 && !descriptor.open_file.id) descriptor.open_file = new_open_file(true, file);
  return descriptor;
}

}  // namespace uscope::descriptors

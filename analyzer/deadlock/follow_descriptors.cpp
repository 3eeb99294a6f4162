// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include <fmt/core.h>

#include <algorithm>

#include "analyzer/deadlock/wait_follower.h"

namespace uscope::analyzer {

void WaitFollower::descriptor(const LookedDescriptor& waited) {
  if (waited.is_stale())
    return unknown(fmt::format("a file in the set of epoll descriptor {} whose own number was closed",
                               waited.via_fd.value_or(-1)));
  const Resource* found = own(waited.fd);
  if (!found) return unknown(fmt::format("whatever descriptor {} stands for, of which nothing is known", waited.fd));
  if (waited.is_opening() && mounts_.count({calls_.processes[thread_->process].id, waited.fd}) != 0)
    return served_file(*found);
  if (waited.is_opening()) {
    out_.is_at_fifo = true;
    const char* const deed = waited.wants == "read" ? "write" : "read";
    return whoever(found->name, fmt::format("whoever opens {} to {} it", found->name, deed));
  }
  if (waited.wants == "lock") return lock(*found);
  if (waited.wants != "write" && found->queued.value_or(0) > 0 && !found->listening)
    return outside("what lies in " + found->name);
  if (waited.wants == "other" && found->type != "pidfd")
    return unknown("something that is not known of " + found->name);
  if (found->type == "pipe" || found->type == "fifo") return pipe(waited, *found);
  if (found->is_terminal()) return terminal(waited, *found);
  if (found->is_socket()) return socket(waited, *found);
  if (found->type == "eventfd") return eventfd(*found);
  if (found->type == "mqueue") return message_queue(waited, *found);
  if (found->type == "pidfd") return hold_process(found->peer.value_or(0));
  static const std::map<std::string, const char*, std::less<>> kOthers{{"timerfd", "a timer, "},
                                                                       {"signalfd", "a signal, "},
                                                                       {"inotify", "a change of files, "},
                                                                       {"device", "the device "}};
  const auto known = kOthers.find(found->type);
  if (known != kOthers.end()) return outside(known->second + found->name);
  unknown("something that is not known of " + found->name);
}

// Who serves a file system answers each call by itself, or never; a program that uses its own waits for itself.
void WaitFollower::served_file(const Resource& file) {
  const Resource& mount = *mounts_.at({calls_.processes[thread_->process].id, file.fd});
  out_.at_mount = true;
  const auto servers = servers_.find(file.dev);
  if (servers == servers_.end()) return unknown("whoever serves the file system " + mount.name);
  std::string untraced;
  for (const Resource* server : servers->second) {
    const auto place = places_.find(server->process_id);
    const std::string who =
        fmt::format("process {}{}", server->pid, server->process.empty() ? "" : " `" + server->process + "`");
    if (!server->process_id || place == places_.end())
      untraced += (untraced.empty() ? "" : " or ") + who;
    else
      hold(place->second, {0, server->fd, mount.name, "the server's end of"});
  }
  if (!untraced.empty())
    unknown(fmt::format("{}, which serves the file system {} and is not traced", untraced, mount.name));
}

void WaitFollower::socket(const LookedDescriptor& waited, const Resource& own) {
  if (own.listening || waited.wants == "accept") return outside("whoever connects to " + own.name);
  if (waited.wants == "connect") return outside("the listener that it connects to");
  if (!own.peer || *own.peer == 0)
    return outside("whoever sends to " + own.name + ", whose other end is elsewhere or not known");
  const auto found = sockets_.find(*own.peer);
  ends(own, found == sockets_.end() ? Holders{} : found->second, "the other end of");
}

// A driver signals an eventfd that a program has given to it (KVM, VFIO), and so do asynchronous input and output and
// control groups, whoever has inherited it. Of who has it alone that is likely enough to count where it is not known.
void WaitFollower::eventfd(const Resource& own) {
  static const std::set<std::string, std::less<>> kMute{"/dev/null", "/dev/zero", "/dev/full", "/dev/random",
                                                        "/dev/urandom"};
  const ProcessRowId self = calls_.processes[thread_->process].id;
  const Holders others = of_object(own);
  const bool only_own = std::all_of(others.begin(), others.end(), [&](auto* it) { return it->process_id == self; });
  std::set<ProcessRowId> having_it{self};
  for (const Resource* other : others)
    if (other->process_id) having_it.insert(other->process_id);
  const bool has_driver = std::any_of(look_.resources.begin(), look_.resources.end(), [&](const Resource& it) {
    const bool is_driver = it.type == "other" || (it.type == "device" && kMute.count(it.name) == 0);
    return is_driver && having_it.count(it.process_id) != 0;
  });
  if (has_driver || look_.kernel_signals || (only_own && !has_all_calls()))
    unknown(fmt::format("the kernel, if a program has asked it to signal {}", own.name));
  ends(own, others, "a descriptor of");
}

// A queue that has a name can be opened by anybody.
void WaitFollower::message_queue(const LookedDescriptor& waited, const Resource& own) {
  if (!own.name.ends_with(" (deleted)")) return outside("whoever opens the message queue " + own.name);
  Holders senders;
  Holders receivers;
  for (const Resource* other : of_object(own)) {
    if (other->writes()) senders.push_back(other);
    if (other->reads()) receivers.push_back(other);
  }
  if (waited.wants != "write") ends(own, senders, "a descriptor to send to");
  if (waited.wants == "write") ends(own, receivers, "a descriptor to receive from");
}

}  // namespace uscope::analyzer

// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "cli/render/signal_text.h"

#include <gtest/gtest.h>

#include <csignal>
#include <nlohmann/json.hpp>

#include "cli/render/events_render.h"

namespace uscope::cli {
namespace {

using analyzer::EventSignal;

EventSignal terminated() {
  EventSignal signal;
  signal.number = SIGTERM;
  signal.info.pid = 77;
  signal.info.uid = 0;
  signal.result = "queued";
  signal.sender_pid = 77;
  signal.sender_tid = 78;
  signal.sender = "sh";
  signal.receiver_pid = 100;
  signal.receiver = "server";
  return signal;
}

TEST(SignalText, WhoSendsAndWhoReceives) {
  EventSignal signal = terminated();
  EXPECT_EQ(signal_text(signal),
            "--- SIGTERM {si_code=SI_USER, si_pid=77, si_uid=0} sent by sh[77/78] to server[100] ---");
  signal.receiver_tid = 101;
  signal.receiver = "a\x1b]b";
  EXPECT_EQ(signal_text(signal),
            "--- SIGTERM {si_code=SI_USER, si_pid=77, si_uid=0} sent by sh[77/78] to a\\x1b]b[100/101] ---");
  signal.sender_pid.reset();
  signal.receiver = "";
  signal.code = SI_KERNEL;
  signal.info = {};
  EXPECT_EQ(signal_text(signal), "--- SIGTERM {si_code=SI_KERNEL} sent by the kernel to ?[100/101] ---");
}

TEST(SignalText, WhatBecomesOfIt) {
  const auto end = [](const std::string& result, bool blocked) {
    EventSignal signal = terminated();
    signal.result = result;
    signal.blocked = blocked;
    const std::string text = signal_text(signal);
    return text.substr(text.find("server[100]") + 11);
  };
  EXPECT_EQ(end("queued", true), ", blocked ---");
  EXPECT_EQ(end("ignored", false), ", ignored ---");
  EXPECT_EQ(end("pending", true), ", blocked, pending already ---");
  EXPECT_EQ(end("overflow", false), ", lost: the queue is full ---");
  EXPECT_EQ(end("no_data", false), ", without its data: the queue is full ---");
}

TEST(SignalText, WhatItCarries) {
  EventSignal signal = terminated();
  signal.number = 34;
  signal.code = SI_QUEUE;
  signal.info.value = 0x1'0000'002a;
  EXPECT_EQ(signal_info_text(signal), "si_code=SI_QUEUE, si_pid=77, si_uid=0, si_int=42, si_ptr=0x10000002a");
  signal = {};
  signal.number = SIGCHLD;
  signal.code = CLD_KILLED;
  signal.info.pid = 5;
  signal.info.uid = 1000;
  signal.info.status = SIGKILL;
  EXPECT_EQ(signal_info_text(signal), "si_code=CLD_KILLED, si_pid=5, si_uid=1000, si_status=SIGKILL");
  signal.code = CLD_EXITED;
  EXPECT_EQ(signal_info_text(signal), "si_code=CLD_EXITED, si_pid=5, si_uid=1000, si_status=9");
  signal = {};
  signal.number = SIGSYS;
  signal.code = 1;
  signal.info.address = 0x401000;
  signal.info.syscall = 59;
  EXPECT_EQ(signal_info_text(signal), "si_code=SYS_SECCOMP, si_call_addr=0x401000, si_syscall=execve");
}

TEST(SignalText, WhatTheReceiverDoes) {
  EventSignal signal;
  signal.number = SIGSEGV;
  signal.code = 1;
  signal.delivered = true;
  signal.info.address = 0;
  EXPECT_EQ(signal_text(signal), "--- SIGSEGV {si_code=SEGV_MAPERR, si_addr=NULL} default action ---");
  signal.handler = 1;
  EXPECT_EQ(signal_text(signal), "--- SIGSEGV {si_code=SEGV_MAPERR, si_addr=NULL} ignored ---");
  signal.handler = 0x401000;
  EXPECT_EQ(signal_text(signal), "--- SIGSEGV {si_code=SEGV_MAPERR, si_addr=NULL} handler 0x401000 ---");
  signal.handler_function = "on\nfault";
  EXPECT_EQ(signal_text(signal), "--- SIGSEGV {si_code=SEGV_MAPERR, si_addr=NULL} handler 0x401000<on\\x0afault> ---");
}

// A siginfo with SI_USER has a sender; where there is none, the kernel has kept no siginfo.
TEST(SignalText, ThatEndsItsProcessAtOnce) {
  EventSignal signal;
  signal.number = SIGTERM;
  signal.delivered = true;
  EXPECT_EQ(signal_text(signal), "--- SIGTERM ends the process ---");
  const nlohmann::ordered_json json = signal_json(signal);
  EXPECT_EQ(json["code"], nullptr);
  EXPECT_EQ(json["code_name"], nullptr);
  EXPECT_EQ(json["delivered"]["action"], "default");
  signal.info.pid = 0;
  EXPECT_EQ(signal_text(signal), "--- SIGTERM {si_code=SI_USER, si_pid=0} default action ---");
}

TEST(SignalText, WhyThereIsNoStack) {
  analyzer::EventRow row;
  row.pid = 77;
  row.tid = 78;
  const auto text = [&] { return frames_text({}, row); };
  EXPECT_EQ(text(), " > (no stack)\n");
  row.signal = terminated();
  EXPECT_EQ(text(), " > (no stack)\n");
  row.pid = row.tid = 100;
  EXPECT_EQ(text(), " > (no stack: the sender is not traced)\n");
  row.signal->sender_pid.reset();
  EXPECT_EQ(text(), " > (no stack: the kernel sent it)\n");
  row.signal->delivered = true;
  EXPECT_EQ(text(), " > (no stack)\n");
}

TEST(SignalText, IsALineAmongCalls) {
  analyzer::EventRow row;
  row.process = "sh";
  row.pid = 77;
  row.tid = 78;
  row.signal = terminated();
  EXPECT_EQ(event_text(row, "0.000001"), "sh[77/78] 0.000001 " + signal_text(terminated()) + "\n");
}

TEST(SignalText, AsJson) {
  const nlohmann::ordered_json sent = signal_json(terminated());
  EXPECT_EQ(sent["name"], "SIGTERM");
  EXPECT_EQ(sent["sent"]["sender_tid"], 78);
  EXPECT_EQ(sent["sent"]["receiver_tid"], nullptr);
  EXPECT_EQ(sent["delivered"], nullptr);
  EventSignal signal;
  signal.number = SIGSEGV;
  signal.delivered = true;
  signal.handler = 0x401000;
  const nlohmann::ordered_json delivered = signal_json(signal);
  EXPECT_EQ(delivered["sent"], nullptr);
  EXPECT_EQ(delivered["delivered"]["action"], "handler");
  EXPECT_EQ(delivered["delivered"]["handler"], "0x401000");
}

}  // namespace
}  // namespace uscope::cli

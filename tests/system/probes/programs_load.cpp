// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The kernel takes every BPF program in every form that a recording or a question gives it: what a form does not use is
// code that cannot be reached to the verifier, which follows it no further. Linux 6.1 refuses what later ones take, so
// this runs in a guest, too. A failure ends with the verifier's words.
#include <bpf/bpf.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "support/unique_fd.h"
#include "tests/support/question_maker.h"
#include "tracer/backend/backend.h"
#include "tracer/backend/bpf_handles.h"
#include "tracer/backend/load_failure.h"
#include "tracer/host/kprobe_multi.h"

namespace uscope::tracer {
namespace {

using test::compute;
using test::field;
using test::give;
using test::question_of;
using Names = std::set<std::string>;

// As the kernel has it.
std::string shortened(std::string_view name) {
  return std::string(name.substr(0, BPF_OBJ_NAME_LEN - 1));
}

// The programs that are loaded now.
Names loaded() {
  Names names;
  for (__u32 id = 0; bpf_prog_get_next_id(id, &id) == 0;) {
    const UniqueFd program(bpf_prog_get_fd_by_id(id));
    bpf_prog_info info{};
    __u32 bytes = sizeof(info);
    if (program && bpf_obj_get_info_by_fd(program.get(), &info, &bytes) == 0) names.insert(info.name);
  }
  return names;
}

Names all_programs() {
  Names names;
  std::size_t bytes = 0;
  const void* const object = uscope_bpf__elf_bytes(&bytes);
  const std::unique_ptr<bpf_object, decltype(&bpf_object__close)> programs(bpf_object__open_mem(object, bytes, nullptr),
                                                                           bpf_object__close);
  bpf_program* program = nullptr;
  bpf_object__for_each_program(program, programs.get()) names.insert(shortened(bpf_program__name(program)));
  return names;
}

Probe probe_of(std::uint8_t source, bool with_return = false) {
  Probe probe;
  probe.source = source;
  probe.kind = 1;
  probe.name = "a:b";
  probe.path = "/proc/self/exe";
  probe.places = {4096};
  probe.with_return = with_return;
  probe.result_bytes = with_return ? 4 : 0;
  ProbeArgument argument;
  if (source == USC_SOURCE_TRACEPOINT) argument.from = ProbeArgument::From::kRecord;
  argument.is_string = source != USC_SOURCE_TRACEPOINT;
  probe.arguments = {argument};
  return probe;
}

bool has_kernel_functions(int attach_type) {
  return why_no_kprobe_multi(attach_type).empty();
}

// All that can be chosen beside system calls, functions with their returns if that is asked for.
ProbePlan plan_of_all(bool with_returns) {
  ProbePlan plan;
  plan.sample_hz = 99;
  plan.offcpu = true;
  plan.probes = {probe_of(USC_SOURCE_TRACEPOINT), probe_of(USC_SOURCE_USDT), probe_of(USC_SOURCE_UFUNCTION)};
  if (with_returns) plan.probes.push_back(probe_of(USC_SOURCE_UFUNCTION, true));
  if (has_kernel_functions(kAttachKprobeMulti)) plan.probes.push_back(probe_of(USC_SOURCE_KFUNCTION));
  if (with_returns && has_kernel_functions(kAttachKprobeSession))
    plan.probes.push_back(probe_of(USC_SOURCE_KFUNCTION, true));
  return plan;
}

usc_config whole_config() {
  usc_config config{};
  config.scope = {USC_MODE_ALL_ALL, 64};
  config.target.kinds = USC_TARGET_CGROUP;
  config.verify_every = 1;
  config.cpus = possible_processors();
  std::fill(std::begin(config.calls[USC_CALLS_NATIVE]), std::end(config.calls[USC_CALLS_NATIVE]), ~__u64{0});
  std::fill(std::begin(config.calls[USC_CALLS_COMPAT]), std::end(config.calls[USC_CALLS_COMPAT]), ~__u64{0});
  config.string_bytes = USC_STRING_MOST;
  config.data_bytes = USC_DATA_MOST;
  config.signals = 1;
  return config;
}

class ProgramsLoad : public testing::Test {
 protected:
  // Which programs the kernel has taken.
  static Names load(const usc_query& query, const ProbePlan& plan) {
    usc_config config = whole_config();
    config.query = query;
    return load(config, plan);
  }

  static Names load(const usc_config& config, const ProbePlan& plan) {
    constexpr BackendSizes kSmall{
        .ring_bytes = 1U << 20, .rows = 1U << 16, .index_entries = 1U << 14, .rules = 1U << 10};
    const auto backend = open_bpf_backend(config, kSmall, plan);
    EXPECT_TRUE(backend) << backend.error().what << "\n" << libbpf_log();
    return backend ? loaded() : Names();
  }
};

// Each program, where all of an event is recorded.
TEST_F(ProgramsLoad, WhereEventsAreRecorded) {
  const Names taken = load(usc_query{}, plan_of_all(true));
  const bool by_perf = taken.contains(shortened("on_sys_enter_perf"));
  EXPECT_NE(by_perf, taken.contains("on_sys_enter"));
  for (const std::string& name : all_programs()) {
    const bool only_if_preempted = name.ends_with("_2") || name.ends_with("_3") ||
                                   name == shortened("on_sys_enter_perf") || name == shortened("on_sys_exit_perf");
    const bool may_lack = only_if_preempted ? !by_perf : by_perf && (name == "on_sys_enter" || name == "on_sys_exit");
    const bool of_kernel_functions = name == shortened("on_kernel_function");
    if (may_lack || (of_kernel_functions && !has_kernel_functions(kAttachKprobeMulti))) continue;
    if (name == shortened("on_user_probe_briefly") || name == shortened("on_call_interrupted")) continue;  // below
    EXPECT_TRUE(taken.contains(name)) << name;
  }
}

// What signals do to calls is seen by another program then.
TEST_F(ProgramsLoad, WhereSignalsAreNotRecorded) {
  usc_config config = whole_config();
  config.signals = 0;
  const Names taken = load(config, plan_of_all(true));
  EXPECT_TRUE(taken.contains(shortened("on_call_interrupted")));
  EXPECT_FALSE(taken.contains(shortened("on_signal_delivered")));
}

TEST_F(ProgramsLoad, WhereAQuestionReadsAll) {
  const usc_query query = question_of(
      3, 1,
      {field(0, USC_QUERY_KIND), give(USC_QUERY_KEY, 0, 0), field(1, USC_QUERY_STACK), give(USC_QUERY_KEY, 1, 1),
       field(2, USC_QUERY_ARG0), give(USC_QUERY_KEY, 2, 2), field(3, USC_QUERY_TOOK), give(USC_QUERY_MEASURE, 3, 0)});
  load(query, plan_of_all(true));
}

TEST_F(ProgramsLoad, WhereNoHitsOfFunctionsAreKept) {
  const usc_query query = question_of(
      2, 1,
      {field(0, USC_QUERY_KIND), give(USC_QUERY_KEY, 0, 0), field(1, USC_QUERY_RESULT), give(USC_QUERY_KEY, 1, 1),
       field(2, USC_QUERY_TOOK), compute(USC_QUERY_BUCKET, 3, 2), give(USC_QUERY_MEASURE, 3, 0)});
  const Names taken = load(query, plan_of_all(true));
  EXPECT_TRUE(taken.contains(shortened("on_user_probe_briefly")));
}

TEST_F(ProgramsLoad, WhereHitsAreCounted) {
  load(question_of(1, 0, {field(0, USC_QUERY_KIND), give(USC_QUERY_KEY, 0, 0)}), plan_of_all(false));
}

TEST_F(ProgramsLoad, WhereCallsAreCountedByFields) {
  const auto key = [](usc_query_field of, int word, usc_query_op op = USC_QUERY_KEY) {
    return give(op, USC_QUERY_OF_FIELD + of, word);
  };
  for (const usc_query_field program : {USC_QUERY_IMAGE, USC_QUERY_GUISE}) {
    const usc_query query = question_of(
        8, 0,
        {key(USC_QUERY_SOURCE, 0), key(USC_QUERY_KIND, 1), key(USC_QUERY_ABI, 2), key(USC_QUERY_HOW, 3),
         key(USC_QUERY_TASK, 4), key(program, 5), key(USC_QUERY_ERROR, 6), key(USC_QUERY_TOOK, 7, USC_QUERY_KEY_STEP)});
    std::array<__u8, USC_QUERY_FIELD_COUNT> word_of{};
    ASSERT_TRUE(usc_query_is_of_brief_calls(&query));
    ASSERT_TRUE(usc_query_counts_by_fields(&query, word_of.data()));
    load(query, plan_of_all(true));
  }
}

// Renamed threads get a serial of their own.
TEST_F(ProgramsLoad, WhereNamesAreAskedFor) {
  load(question_of(2, 1,
                   {field(0, USC_QUERY_TASK), give(USC_QUERY_KEY, 0, 0), field(1, USC_QUERY_GUISE),
                    give(USC_QUERY_KEY, 1, 1), field(2, USC_QUERY_ARG0), give(USC_QUERY_MEASURE, 2, 0)}),
       plan_of_all(true));
}

}  // namespace
}  // namespace uscope::tracer

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}

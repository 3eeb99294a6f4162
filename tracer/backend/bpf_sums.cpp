// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/backend/bpf_sums.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include <cstddef>
#include <iterator>
#include <numeric>
#include <utility>

#include "tracer/backend/bpf_handles.h"

namespace uscope::tracer {
namespace {

constexpr std::uint32_t kNumbers = USC_ABI_COUNT * USC_SYSCALL_BITS;

}  // namespace

void BpfSums::prepare(uscope_bpf& skeleton, const usc_config& config, std::uint32_t cpus) {
  const usc_query& question = config.query;
  cpus_ = cpus;
  has_question_ = question.length != 0;
  steps_word_ = usc_query_steps_word(&question);
  const_cast<__u32&>(skeleton.rodata->steps_word) = steps_word_;
  counts_calls_ = usc_query_counts_calls(&question) != 0;
  const_cast<bool&>(skeleton.rodata->calls_counted) = counts_calls_;
  question_ = question;
  if (counts_calls_) bpf_map__set_max_entries(skeleton.maps.call_counts, cpus * 2 * kNumbers);
  prepare_brief_calls(skeleton, config);
  bpf_map__set_map_flags(skeleton.maps.query_rows, BPF_F_MMAPABLE);
  if (!has_question_) bpf_map__set_max_entries(skeleton.maps.query_rows, 1);
  if (steps_word_ != 0) bpf_map__set_max_entries(skeleton.maps.query_steps, cpus * 2 * USC_QUERY_STEP_ROWS);
}

void BpfSums::prepare_brief_calls(uscope_bpf& skeleton, const usc_config& config) {
  auto& settings = *skeleton.rodata;
  const auto set = [](const volatile bool& setting, bool value) { const_cast<bool&>(setting) = value; };
  const auto reads = [&](__u32 fields) { return (question_.reads & fields) != 0; };
  const bool brief = usc_query_is_of_brief_calls(&question_) != 0;
  counts_by_fields_ = brief && usc_query_counts_by_fields(&question_, word_of_.data()) != 0;
  set(settings.calls_brief, brief);
  set(settings.guises_asked, reads(1U << USC_QUERY_GUISE));
  set(settings.times_asked, reads(1U << USC_QUERY_TIME | 1U << USC_QUERY_TOOK));
  set(settings.counts_by_fields, counts_by_fields_);
  set(settings.counts_images, counts_by_fields_ && (word_of_[USC_QUERY_IMAGE] != 0 || word_of_[USC_QUERY_GUISE] != 0));
  set(settings.counts_times, counts_by_fields_ && word_of_[USC_QUERY_TOOK] != 0);
  set(settings.counts_results, counts_by_fields_ && word_of_[USC_QUERY_RESULT] != 0);
  const_cast<__u64&>(settings.count_mask) = usc_query_count_mask(word_of_.data());
  for (__u32 number = 0; number < USC_SYSCALL_BITS; number++)
    if (!needs_entry(number))
      const_cast<__u64&>(settings.brief_numbers[number / 64]) |=
          config.calls[USC_CALLS_NATIVE][number / 64] & 1ULL << number % 64;
  if (brief) bpf_map__set_max_entries(skeleton.maps.brief_calls, USC_QUERY_BRIEF_THREADS);
  bpf_map__set_max_entries(skeleton.maps.query_counts, cpus_ * 2);
  bpf_map__set_autocreate(skeleton.maps.query_counts, counts_by_fields_);
}

Result<void> BpfSums::open(const uscope_bpf& skeleton) {
  const std::size_t tables = std::size_t{cpus_} * 2;
  const auto open = [](MapMemory& memory, const bpf_map* map, std::size_t bytes) {
    return memory.open(bpf_map__fd(map), bytes, bpf_map__name(map));
  };
  if (has_question_)
    if (auto opened = open(rows_, skeleton.maps.query_rows, tables * USC_QUERY_ROWS * sizeof(usc_query_row)); !opened)
      return opened;
  if (counts_calls_)
    if (auto opened = open(counts_, skeleton.maps.call_counts, tables * kNumbers * sizeof(__u64)); !opened)
      return opened;
  if (counts_by_fields_)
    if (auto opened = open(field_counts_, skeleton.maps.query_counts, tables * sizeof(usc_query_counts)); !opened)
      return opened;
  if (steps_word_ == 0) return {};
  return open(steps_, skeleton.maps.query_steps, tables * USC_QUERY_STEP_ROWS * sizeof(usc_query_steps));
}

void BpfSums::take(std::uint32_t turn, const Backend::SumHandler& handle) {
  const std::size_t used = steps_word_ != 0 ? USC_QUERY_STEP_ROWS : USC_QUERY_ROWS;
  for (std::size_t cpu = 0; cpu < cpus_; cpu++) {
    usc_query_row* rows = rows_.as<usc_query_row>() + (cpu * 2 + turn) * USC_QUERY_ROWS;
    usc_query_steps* steps = steps_word_ == 0 ? nullptr : steps_.as<usc_query_steps>() + (cpu * 2 + turn) * used;
    for (std::size_t i = 0; i < used; i++) {
      if (rows[i].events == 0) continue;
      handle(rows[i], steps == nullptr ? nullptr : &steps[i]);
      rows[i].events = 0;
      if (steps != nullptr) steps[i] = {};
    }
  }
  if (counts_calls_) take_call_counts(turn, handle);
  if (counts_by_fields_)
    for (std::size_t cpu = 0; cpu < cpus_; cpu++)
      take_counts(field_counts_.as<usc_query_counts>()[cpu * 2 + turn], handle);
}

void BpfSums::take_counts(usc_query_counts& counts, const Backend::SumHandler& handle) {
  for (std::uint32_t number = 0; number < counts.used; number++) {
    usc_query_place& place = counts.place[counts.place_of[number]];
    usc_query_steps& steps = counts.steps[number];
    usc_query_row row{};
    row.events = std::accumulate(std::begin(steps.events), std::end(steps.events), std::uint64_t{0});
    usc_query_key_of_place(&place, word_of_.data(), &row.key);
    handle(row, steps_word_ == 0 ? nullptr : &steps);
    counted_ += row.events;
    place = {};
    steps = {};
  }
  counts.used = 0;
}

void BpfSums::take_call_counts(std::uint32_t turn, const Backend::SumHandler& handle) {
  for (std::uint32_t number = 0; number < kNumbers; number++) {
    usc_query_row row{};
    for (std::size_t cpu = 0; cpu < cpus_; cpu++)
      row.events += std::exchange(counts_.as<__u64>()[(cpu * 2 + turn) * kNumbers + number], 0);
    if (row.events == 0) continue;
    usc_query_key_of_number(&question_, number / USC_SYSCALL_BITS, number % USC_SYSCALL_BITS, &row.key);
    handle(row, nullptr);
  }
}

}  // namespace uscope::tracer

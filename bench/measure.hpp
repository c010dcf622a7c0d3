#pragma once

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <type_traits>
#include <utility>

#include "bench/clock.hpp"
#include "kinegraph/task/simulate.hpp"

namespace kinegraph::bench {

/// What a run cost: its steps, and what came before them (assembly, mobility, symbolic work).
struct Cost {
  double step_us = 0, start_s = 0;
  task::SimulateSummary summary;
};

/// One run. Samples are told in order, one per step: the clock starts when the first window is full, for until then
/// pivots are chosen and memory is allocated. A batch tells all samples at its end: there all but the assembly counts.
inline Cost run_once(const Model& model, task::SimulateOptions options) {
  const long warm = options.method == "batch" ? -1 : options.window;
  const double called = cpu_seconds();
  double begun = 0;
  long samples = 0;
  options.begin = [&](const auto&) { begun = cpu_seconds(); };
  options.sample = [&](double, const double*) {
    if (samples++ == warm) begun = cpu_seconds();
  };
  const task::SimulateSummary summary = require(task::simulate(model, options), "simulate").summary;
  const double ended = cpu_seconds();
  const long steps = summary.steps - std::max(warm, 0L);
  return {(ended - begun) / static_cast<double>(steps) * 1e6, begun - called, summary};
}

/// The least of several runs: whatever else the machine did, it can only have added.
inline Cost best_of(int runs, const Model& model, const task::SimulateOptions& options) {
  Cost best;
  for (int i = 0; i < runs; ++i) {
    const Cost cost = run_once(model, options);
    const double start = i == 0 ? cost.start_s : std::min(best.start_s, cost.start_s);
    if (i == 0 || cost.step_us < best.step_us) best = cost;
    best.start_s = start;
  }
  return best;
}

/// What a child process answered, and the most memory it held.
template <class T>
struct Answer {
  T value{};
  double peak_mb = 0;
};

/// Runs `work` in a process of its own, so that its peak memory is its own.
template <class T>
Answer<T> in_child(const std::function<T()>& work) {
  static_assert(std::is_trivially_copyable_v<T>);
  int pipe_ends[2];
  if (pipe(pipe_ends) != 0) std::abort();
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child < 0) std::abort();
  if (child == 0) {
    const T value = work();
    const bool told = write(pipe_ends[1], &value, sizeof value) == sizeof value;
    _exit(told ? 0 : 1);
  }
  close(pipe_ends[1]);
  Answer<T> answer;
  const bool heard = read(pipe_ends[0], &answer.value, sizeof answer.value) == sizeof answer.value;
  close(pipe_ends[0]);
  int status = 0;
  rusage usage{};
  wait4(child, &status, 0, &usage);
  if (!heard || !WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    std::fprintf(stderr, "a run failed\n");
    std::exit(1);
  }
  answer.peak_mb = static_cast<double>(usage.ru_maxrss) / 1024;
  return answer;
}

}  // namespace kinegraph::bench

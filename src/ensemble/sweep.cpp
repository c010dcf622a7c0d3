#include "kinegraph/ensemble/sweep.hpp"

#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "kinegraph/ensemble/hand_out.hpp"

namespace kinegraph::ensemble {
namespace {

using namespace std::chrono_literals;

constexpr std::chrono::microseconds kShortestNap = 20us, kLongestNap = 5ms;

/// Sleeps longer and longer while nothing comes.
class Nap {
 public:
  void reset() { time_ = kShortestNap; }
  void take() {
    std::this_thread::sleep_for(time_);
    time_ = std::min(2 * time_, kLongestNap);
  }

 private:
  std::chrono::microseconds time_ = kShortestNap;
};

/// `work` on so many threads. Each runs its cases alone: what a case itself would do in parallel stays on its thread.
template <class Work>
void on_threads(int threads, const Work& work) {
  const tbb::global_control allowed(tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(threads));
  tbb::task_arena arena(threads);
  arena.execute([&] {
    tbb::parallel_for(
        0, threads, 1,
        [&](int) {
          tbb::task_arena alone(1);
          alone.execute(work);
        },
        tbb::simple_partitioner());
  });
}

// Messages. To rank 0: its study, how many workers it has, outcomes. Back: which cases come next.
// No workers: the sender is interrupted and goes home.
std::string request(std::uint64_t study, int workers, const std::vector<std::string>& outcomes) {
  std::string bytes;
  put(bytes, study);
  put(bytes, static_cast<std::int32_t>(workers));
  for (const std::string& outcome : outcomes) {
    put(bytes, static_cast<std::uint32_t>(outcome.size()));
    bytes += outcome;
  }
  return bytes;
}

std::string reply(const Chunk& chunk) {
  std::string bytes;
  put(bytes, chunk);
  return bytes;
}

/// What rank 0 does beside the cases: answers other ranks, tells how far it is.
class Service {
 public:
  Service(HandOut& cases, const SweepOptions& options)
      : cases_(cases), options_(options), away_(options.ranks ? options.ranks->size() - 1 : 0) {}

  /// Until the workers here are done and everyone else has gone home.
  void run(const std::atomic<bool>& done) {
    constexpr auto kBetweenReports = 100ms;
    Nap nap;
    auto next = std::chrono::steady_clock::now();
    while (!done || away_ > 0) {
      Ranks::Message message;
      if (away_ > 0 && options_.ranks->receive(message)) {
        answer(message);
        nap.reset();
        continue;
      }
      if (const auto now = std::chrono::steady_clock::now(); now >= next) {
        next = now + kBetweenReports;
        if (options_.progress && !options_.progress(cases_.state())) cases_.stop(Failure::interrupted());
      }
      nap.take();
    }
  }

 private:
  void answer(const Ranks::Message& message) {
    std::string_view bytes = message.bytes;
    std::uint64_t study = 0;
    std::int32_t workers = 1;
    if (!take(bytes, study) || !take(bytes, workers) || study != options_.study) {
      cases_.stop(Failure::bad_input("rank " + std::to_string(message.from) +
                                     " reads another study or model than rank 0: are the files the same there?"));
    } else {
      for (std::uint32_t size = 0; take(bytes, size) && bytes.size() >= size; bytes.remove_prefix(size)) {
        if (const auto outcome = decode(bytes.substr(0, size))) cases_.take(*outcome);
      }
    }
    if (workers == 0) cases_.stop(Failure::interrupted());
    const Chunk chunk = cases_.next_share(workers);
    options_.ranks->send(message.from, reply(chunk));
    away_ -= chunk.count == 0;
  }

  HandOut& cases_;
  const SweepOptions& options_;
  int away_;
};

}  // namespace

Result<std::monostate> sweep(Journal& journal, const RunCase& run, const SweepOptions& options) {
  const int ranks = options.ranks ? options.ranks->size() : 1;
  HandOut cases(journal, options.threads * ranks);
  std::atomic<bool> done = false;
  Service service(cases, options);
  std::thread beside([&] { service.run(done); });
  try {
    on_threads(options.threads, [&] {
      for (Chunk chunk = cases.next(); chunk.count > 0; chunk = cases.next()) {
        const Result<Outcome> outcome = run(chunk.first);
        if (!outcome) {
          cases.stop(outcome.failure());
          return;
        }
        cases.take(*outcome);
      }
    });
  } catch (...) {
    cases.stop(Failure::internal("a case ended by an exception"));
  }
  done = true;
  beside.join();
  journal.to_disk();
  if (const auto failure = cases.failure()) return *failure;
  return std::monostate{};
}

Result<std::monostate> help_sweep(const RunCase& run, const SweepOptions& options) {
  std::vector<std::string> outcomes;
  std::optional<Failure> failure;
  for (;;) {
    options.ranks->send(0, request(options.study, failure ? 0 : options.threads, outcomes));
    Ranks::Message message;
    for (Nap nap; !options.ranks->receive(message);) nap.take();
    if (failure) return *failure;
    std::string_view bytes = message.bytes;
    Chunk chunk;
    if (!take(bytes, chunk) || chunk.count == 0) break;
    outcomes.clear();
    std::atomic<std::uint64_t> next = chunk.first;
    std::mutex mutex;
    on_threads(options.threads, [&] {
      for (std::uint64_t k = next++; k < chunk.first + chunk.count; k = next++) {
        const Result<Outcome> outcome = run(k);
        const std::lock_guard lock(mutex);
        if (!outcome) failure = outcome.failure();
        if (failure) return;
        outcomes.push_back(encode(*outcome));
      }
    });
  }
  return std::monostate{};
}

void dismiss(Ranks& ranks) {
  Nap nap;
  for (int away = ranks.size() - 1; away > 0;) {
    Ranks::Message message;
    if (ranks.receive(message)) {
      ranks.send(message.from, reply({}));
      --away;
    } else {
      nap.take();
    }
  }
}

}  // namespace kinegraph::ensemble

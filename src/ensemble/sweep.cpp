#include "kinegraph/ensemble/sweep.hpp"

#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
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

// Messages. To rank 0: of which study, what is wished, how many workers the sender has, outcomes. Back, unless nothing
// is wished: which cases come next.
enum class Wish : std::uint8_t { cases, nothing, home };  // home: the sender is interrupted

/// What a process of another rank has to tell rank 0. Outcomes do not wait for each other: they are sent at once, or,
/// where there are many, ten times a second, so that hardly any is lost with a process.
class Outbox {
 public:
  explicit Outbox(const SweepOptions& options) : options_(options), beside_([this] { run(); }) {}
  Outbox(const Outbox&) = delete;
  Outbox& operator=(const Outbox&) = delete;
  ~Outbox() {
    {
      const std::lock_guard lock(mutex_);
      closed_ = true;
    }
    wake_.notify_one();
    beside_.join();
  }

  void add(const Outcome& outcome) {
    const std::string bytes = encode(outcome);
    const std::lock_guard lock(mutex_);
    put(outcomes_, static_cast<std::uint32_t>(bytes.size()));
    outcomes_ += bytes;
    if (std::chrono::steady_clock::now() >= sent_ + kBetween) send(Wish::nothing);
  }

  /// Sends what is left, and waits for what comes next.
  Chunk ask(Wish wish) {
    std::unique_lock lock(mutex_);
    send(wish);
    Ranks::Message message;
    for (Nap nap; !options_.ranks->receive(message);) {
      lock.unlock();
      nap.take();
      lock.lock();
    }
    std::string_view bytes = message.bytes;
    Chunk chunk;
    take(bytes, chunk);
    return chunk;
  }

 private:
  static constexpr auto kBetween = 100ms;

  void run() {
    std::unique_lock lock(mutex_);
    while (!wake_.wait_for(lock, kBetween, [&] { return closed_; })) {
      if (!outcomes_.empty()) send(Wish::nothing);
    }
  }

  void send(Wish wish) {  // locked: MPI is called by one thread at a time
    std::string bytes;
    put(bytes, options_.study);
    put(bytes, wish);
    put(bytes, static_cast<std::int32_t>(options_.threads));
    bytes += outcomes_;
    options_.ranks->send(0, bytes);
    outcomes_.clear();
    sent_ = std::chrono::steady_clock::now();
  }

  const SweepOptions& options_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::string outcomes_;  // each with its length before it
  std::chrono::steady_clock::time_point sent_;
  bool closed_ = false;
  std::thread beside_;  // last: it uses the others
};

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
    Wish wish = Wish::cases;
    std::int32_t workers = 1;
    if (!take(bytes, study) || !take(bytes, wish) || !take(bytes, workers) || study != options_.study) {
      cases_.stop(Failure::bad_input("rank " + std::to_string(message.from) +
                                     " reads another study or model than rank 0: are the files the same there?"));
    } else {
      for (std::uint32_t size = 0; take(bytes, size) && bytes.size() >= size; bytes.remove_prefix(size)) {
        if (const auto outcome = decode(bytes.substr(0, size))) cases_.take(*outcome);
      }
    }
    if (wish == Wish::nothing) return;
    if (wish == Wish::home) cases_.stop(Failure::interrupted());
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
  Outbox outbox(options);
  std::mutex mutex;
  std::optional<Failure> failure;
  for (Chunk chunk = outbox.ask(Wish::cases); chunk.count > 0; chunk = outbox.ask(failure ? Wish::home : Wish::cases)) {
    std::atomic<std::uint64_t> next = chunk.first;
    on_threads(options.threads, [&] {
      for (std::uint64_t k = next++; k < chunk.first + chunk.count; k = next++) {
        const Result<Outcome> outcome = run(k);
        if (outcome) outbox.add(*outcome);
        const std::lock_guard lock(mutex);
        if (!outcome) failure = outcome.failure();
        if (failure) return;
      }
    });
  }
  if (failure) return *failure;
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

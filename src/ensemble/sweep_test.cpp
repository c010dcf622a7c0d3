#include "kinegraph/ensemble/sweep.hpp"

#include <gtest/gtest.h>
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>
#include <queue>
#include <thread>

#include "kinegraph/base/random.hpp"
#include "kinegraph/ensemble/hand_out.hpp"
#include "kinegraph/ensemble/study_file.hpp"
#include "kinegraph/ensemble/table.hpp"

namespace kinegraph::ensemble::sweep_test {
namespace {

namespace fs = std::filesystem;

constexpr const char* kStudy =
    "verb: check\nmodel: m.yaml\nsamples: 100\nvary: {a: {distribution: normal, mean: 0, sd: 1}, b: [1, 2, 3]}\n"
    "outputs: [mass, \"a, b\"]\n";

class SweepTest : public testing::Test {
 protected:
  SweepTest() : study_(*parse_study(kStudy, "s.yaml")), design_(study_) {
    std::string name = (fs::temp_directory_path() / "kinegraph_sweep_XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
  }
  ~SweepTest() override { fs::remove_all(folder_); }

  Result<Journal> open() { return Journal::open(folder_ / "j", study_.content(), design_.cases(), false); }

  /// A number and a text of each case; every eleventh has no answer.
  Outcome answer(std::uint64_t k) const {
    Outcome made;
    made.number = k;
    if (k % 11 == 5) {
      made.status = 1;
      made.error = "no assembly, \"P1\" is off";
    }
    if (k % 7 == 3) {
      made.warnings = 2;
      made.warning = "case " + std::to_string(k) + " drifts";
    }
    made.cells = {made.status ? Cell{} : Cell::of(std::sin(std::stod(design_.at(k).values[0]))),
                  Cell::of(std::string("a,b"))};
    return made;
  }

  std::string table(Journal& journal) {
    const std::string path = folder_ / "t.csv";
    Result<OutputFile> file = OutputFile::create(path);
    const auto written = write_table(*csv_table(*file, table_columns(study_)), study_, design_, journal, {});
    EXPECT_TRUE(written) << written.failure().to_string();
    written_ = written ? *written : TableSummary();
    spreads_ = written_.spreads;
    std::ifstream in(path);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  std::string run(int threads) {
    fs::remove(folder_ / "j");
    Result<Journal> journal = open();
    SweepOptions options;
    options.threads = threads;
    const auto done = sweep(
        *journal, [this](std::uint64_t k) { return answer(k); }, options);
    EXPECT_TRUE(done);
    return table(*journal);
  }

  Study study_;
  Design design_;
  fs::path folder_;
  std::vector<Spread> spreads_;
  TableSummary written_;
};

/// Bytes that the program holds; 0 where a sanitizer does not tell.
std::size_t held() {
  const struct mallinfo2 now = ::mallinfo2();
  return now.uordblks + now.hblkhd;
}

/// The cases that are finished, and rows that are written, leave less than a byte each.
TEST_F(SweepTest, MemoryDoesNotGrowWithFinishedCases) {
  constexpr std::uint64_t kEarly = 5'000, kCases = 45'000;
  study_.samples = kCases / 3;
  const Design design(study_);
  Result<Journal> journal = Journal::open(folder_ / "j", study_.content(), design.cases(), false);
  ASSERT_TRUE(journal) << journal.failure().to_string();
  std::size_t early = 0, late = 0;
  const auto done = sweep(*journal,
                          [&](std::uint64_t k) {
                            if (k == kEarly) early = held();
                            if (k == kCases - 1) late = held();
                            Outcome made = answer(k % design_.cases());
                            made.number = k;
                            return made;
                          },
                          {});
  ASSERT_TRUE(done);
  EXPECT_LT(late, early + kCases / 2);
  Result<OutputFile> file = OutputFile::create(folder_ / "t.csv");
  early = late = 0;
  const auto written =
      write_table(*csv_table(*file, table_columns(study_)), study_, design, *journal, [&](double share) {
        if (share < 0.5) (share < 0.1 ? early : late) = held();  // then come the histograms of percentiles
        return true;
      });
  ASSERT_TRUE(written) << written.failure().to_string();
  EXPECT_LT(late, early + kCases / 2);
}

TEST_F(SweepTest, TheTableDoesNotDependOnThreads) {
  const std::string one = run(1);
  EXPECT_EQ(one, run(2));
  EXPECT_EQ(one, run(5));
  EXPECT_EQ(std::count(one.begin(), one.end(), '\n'), 301);
  EXPECT_EQ(one.substr(0, one.find('\n')), "case,seed,a,b,mass,\"a, b\",status,error,warnings");
  EXPECT_NE(one.find(",,\"a,b\",1,\"no assembly, \"\"P1\"\" is off\",0\n"), std::string::npos);
}

TEST_F(SweepTest, CountsTheCasesWithWarnings) {
  const std::string text = run(3);
  EXPECT_EQ(written_.warned, 43U);  // 3, 10, …, 297 of 300
  EXPECT_EQ(written_.first, 3U);
  EXPECT_EQ(written_.warning, "case 3 drifts");
  EXPECT_NE(text.find("\"a,b\",0,,2\n"), std::string::npos);
}

TEST_F(SweepTest, TellsHowOutputsSpread) {
  run(2);
  std::vector<double> x;
  for (std::uint64_t k = 0; k < design_.cases(); ++k) {
    if (answer(k).status == 0) x.push_back(answer(k).cells[0].number);
  }
  double sum = 0, squares = 0;
  for (const double v : x) sum += v;
  for (const double v : x) squares += std::pow(v - sum / static_cast<double>(x.size()), 2);
  std::sort(x.begin(), x.end());
  ASSERT_EQ(spreads_.size(), 2U);
  EXPECT_EQ(spreads_[0].count, x.size());
  EXPECT_NEAR(spreads_[0].mean, sum / static_cast<double>(x.size()), 1e-14);
  EXPECT_NEAR(spreads_[0].sd, std::sqrt(squares / static_cast<double>(x.size() - 1)), 1e-14);
  EXPECT_EQ(spreads_[0].min, x.front());
  EXPECT_EQ(spreads_[0].max, x.back());
  for (std::size_t p = 0; p < kPercentiles.size(); ++p) {
    const double at = kPercentiles[p] / 100.0 * static_cast<double>(x.size() - 1);
    const auto i = static_cast<std::size_t>(at);
    EXPECT_EQ(spreads_[0].percentiles[p], x[i] + (at - std::floor(at)) * (x[i + 1] - x[i])) << kPercentiles[p];
  }
  EXPECT_EQ(spreads_[1].count, 0U);
}

/// Ctrl-C while the table is written: in its rows, in the passes for percentiles, before HDF5.
TEST_F(SweepTest, TheTableIsLeftWhenItIsTold) {
  run(2);
  Result<Journal> journal = open();
  ASSERT_TRUE(journal);
  for (const double enough : {0.0, 0.5, 0.6, 0.9}) {
    Result<OutputFile> file = OutputFile::create(folder_ / "left.csv");
    const auto written = write_table(*csv_table(*file, table_columns(study_)), study_, design_, *journal,
                                     [&](double share) { return share < enough; });
    ASSERT_FALSE(written) << enough;
    EXPECT_EQ(written.failure().exit_status(), 130) << enough;
  }
  EXPECT_FALSE(fs::exists(folder_ / "left.csv"));
  const auto texts = text_outputs(study_, *journal, [](double) { return false; });
  ASSERT_FALSE(texts);
  EXPECT_EQ(texts.failure().exit_status(), 130);
  EXPECT_EQ(*text_outputs(study_, *journal, {}), (std::vector<bool>{false, true}));
}

/// Stopped again and again, it ends with the same table, and no case is run twice.
TEST_F(SweepTest, GoesOnWhereItWasStopped) {
  const std::string whole = run(2);
  fs::remove(folder_ / "j");
  std::vector<std::atomic<int>> ran(design_.cases());
  Random random(1);
  int rounds = 0;
  for (bool complete = false; !complete; ++rounds) {
    Result<Journal> journal = open();
    ASSERT_TRUE(journal);
    std::atomic<int> left = 1 + random.below(60);
    const auto done = sweep(*journal,
                            [&](std::uint64_t k) -> Result<Outcome> {
                              if (--left < 0) return Failure::interrupted();
                              ++ran[k];
                              return answer(k);
                            },
                            {2, nullptr, 0, {}});
    complete = done.ok();
    if (complete) {
      EXPECT_EQ(table(*journal), whole);
    } else {
      EXPECT_EQ(done.failure().exit_status(), 130);
    }
  }
  EXPECT_GT(rounds, 5);
  for (const std::atomic<int>& times : ran) EXPECT_EQ(times, 1);
}

TEST_F(SweepTest, StopsWhenItIsTold) {
  Result<Journal> journal = open();
  SweepOptions options;
  options.progress = [](const SweepState& state) { return state.finished < 3; };
  const auto done = sweep(
      *journal,
      [&](std::uint64_t k) {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
        return answer(k);
      },
      options);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.failure().exit_status(), 130);
  EXPECT_LT(journal->finished(), 200U);
  EXPECT_GE(journal->finished(), 3U);
}

/// Processes that are threads here: what one sends, the other receives.
class Post {
 public:
  explicit Post(int size) : boxes_(static_cast<std::size_t>(size)) {}
  void put(int to, Ranks::Message message) {
    const std::lock_guard lock(mutex_);
    boxes_[static_cast<std::size_t>(to)].push(std::move(message));
  }
  bool take(int of, Ranks::Message& message) {
    const std::lock_guard lock(mutex_);
    auto& box = boxes_[static_cast<std::size_t>(of)];
    if (box.empty()) return false;
    message = std::move(box.front());
    box.pop();
    return true;
  }
  int size() const { return static_cast<int>(boxes_.size()); }

 private:
  std::mutex mutex_;
  std::vector<std::queue<Ranks::Message>> boxes_;
};

class ThreadRank final : public Ranks {
 public:
  ThreadRank(Post& post, int rank) : post_(post), rank_(rank) {}
  int rank() const override { return rank_; }
  int size() const override { return post_.size(); }
  void send(int to, const std::string& bytes) override { post_.put(to, {rank_, bytes}); }
  bool receive(Message& message) override { return post_.take(rank_, message); }

 private:
  Post& post_;
  int rank_;
};

TEST_F(SweepTest, OtherProcessesHelp) {
  const std::string whole = run(1);
  fs::remove(folder_ / "j");
  Post post(4);
  std::vector<std::atomic<int>> by(4);
  const auto work = [&](int rank) {
    return [this, rank, &by](std::uint64_t k) {
      ++by[static_cast<std::size_t>(rank)];
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      return Result<Outcome>(answer(k));
    };
  };
  std::vector<std::thread> others;
  for (int rank = 1; rank < 4; ++rank) {
    others.emplace_back([&, rank] {
      ThreadRank here(post, rank);
      SweepOptions options;
      options.threads = rank == 3 ? 2 : 1;
      options.ranks = &here;
      options.study = 9;
      EXPECT_TRUE(help_sweep(work(rank), options));
    });
  }
  ThreadRank here(post, 0);
  SweepOptions options;
  options.ranks = &here;
  options.study = 9;
  Result<Journal> journal = open();
  EXPECT_TRUE(sweep(*journal, work(0), options));
  for (std::thread& other : others) other.join();
  EXPECT_EQ(table(*journal), whole);
  for (const std::atomic<int>& share : by) EXPECT_GT(share, 0);
  EXPECT_EQ(by[0] + by[1] + by[2] + by[3], 300);
}

/// What a process has finished does not wait for the rest of what it was given: it would be lost with the process.
TEST_F(SweepTest, OutcomesOfOtherProcessesComeAtOnce) {
  Post post(2);
  ThreadRank here(post, 0);
  std::atomic<int> received = 0;
  const auto wait_for = [&](int count) {
    for (int i = 0; i < 1000 && received < count; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    return received >= count;
  };
  std::thread other([&] {
    ThreadRank there(post, 1);
    SweepOptions options;
    options.ranks = &there;
    const auto run = [&](std::uint64_t k) {
      EXPECT_TRUE(k < 2 || wait_for(2));
      return Result<Outcome>(answer(k));
    };
    EXPECT_TRUE(help_sweep(run, options));
  });
  const auto next = [&] {
    Ranks::Message message;
    while (!here.receive(message)) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return message.bytes;
  };
  const auto reply = [&](const Chunk& chunk) {
    std::string bytes;
    put(bytes, chunk);
    here.send(1, bytes);
  };
  next();
  reply({0, 3});
  while (received < 3) {
    const std::string bytes = next();
    for (std::uint64_t k = 0; k < 3; ++k) received += bytes.find(encode(answer(k))) != std::string::npos;
  }
  reply({});
  other.join();
}

TEST_F(SweepTest, AProcessWithAnotherStudyIsRefused) {
  Post post(2);
  std::thread other([&] {
    ThreadRank here(post, 1);
    SweepOptions options;
    options.ranks = &here;
    options.study = 8;
    EXPECT_TRUE(help_sweep([](std::uint64_t) -> Result<Outcome> { return Failure::internal("never"); }, options));
  });
  ThreadRank here(post, 0);
  SweepOptions options;
  options.ranks = &here;
  options.study = 9;
  Result<Journal> journal = open();
  const auto done = sweep(
      *journal,
      [&](std::uint64_t k) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        return answer(k);
      },
      options);
  other.join();
  ASSERT_FALSE(done);
  EXPECT_EQ(done.failure().to_string(),
            "error: rank 1 reads another study or model than rank 0: are the files the same there?");
}

TEST_F(SweepTest, WhatWasFinishedBeforeTellsNoRate) {
  Result<Journal> journal = open();
  for (std::uint64_t k = 0; k < 5; ++k) ASSERT_TRUE(journal->append(answer(k)));
  EXPECT_EQ(HandOut(*journal, 4).next_share(2).count, 2U);
}

TEST_F(SweepTest, SharesGetSmallTowardsTheEnd) {
  Result<Journal> journal = open();
  HandOut cases(*journal, 4);
  EXPECT_EQ(cases.next_share(2).count, 2U);  // nothing is known yet
  for (std::uint64_t k = 0; k < 2; ++k) cases.take(answer(k));
  std::uint64_t next = 2, last = 0;
  while (next < 300) {
    const Chunk chunk = cases.next_share(1);
    ASSERT_EQ(chunk.first, next);
    ASSERT_GT(chunk.count, 0U);
    last = chunk.count;
    next += chunk.count;
  }
  EXPECT_EQ(last, 1U);
  EXPECT_EQ(cases.next_share(1).count, 0U);
}

}  // namespace
}  // namespace kinegraph::ensemble::sweep_test

#include "kinegraph/ensemble/journal.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace kinegraph::ensemble::journal_test {
namespace {

namespace fs = std::filesystem;

/// A folder of its own, removed at the end.
class JournalTest : public testing::Test {
 protected:
  JournalTest() {
    std::string name = (fs::temp_directory_path() / "kinegraph_journal_XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
    path_ = (folder_ / "t.journal").string();
  }
  ~JournalTest() override { fs::remove_all(folder_); }

  Result<Journal> open(const std::vector<std::string>& content = {"verb: check"}, bool restart = false) {
    return Journal::open(path_, content, 100, restart);
  }
  std::string bytes() const {
    std::ifstream file(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void write(const std::string& bytes) const { std::ofstream(path_, std::ios::binary) << bytes; }

  fs::path folder_;
  std::string path_;
};

Outcome outcome(std::uint64_t number) {
  Outcome made;
  made.number = number;
  made.status = number % 7 == 3 ? 1 : 0;
  if (made.status != 0) made.error = "no assembly: P1-P2 is off by 0.1";
  made.cells = {Cell::of(0.1 * static_cast<double>(number)), Cell{}, Cell::of(std::string(number, 'x'))};
  return made;
}

TEST_F(JournalTest, KeepsOutcomesOfAnyOrder) {
  {
    Result<Journal> journal = open();
    ASSERT_TRUE(journal) << journal.failure().to_string();
    for (const std::uint64_t k : {5U, 3U, 99U, 0U}) ASSERT_TRUE(journal->append(outcome(k)));
    EXPECT_EQ(journal->resumed(), 0U);
    EXPECT_EQ(journal->next_missing(0), 1U);
  }
  Result<Journal> journal = open();
  ASSERT_TRUE(journal);
  EXPECT_EQ(journal->resumed(), 4U);
  EXPECT_EQ(journal->failed(), 1U);
  for (const std::uint64_t k : {0U, 3U, 5U, 99U}) EXPECT_EQ(journal->read(k), outcome(k));
  EXPECT_FALSE(journal->read(4));
  EXPECT_EQ(journal->next_missing(3), 4U);
  EXPECT_EQ(journal->next_missing(99), 100U);
  std::vector<std::uint64_t> order;
  ASSERT_TRUE(journal->visit([&](const Outcome& o) { order.push_back(o.number); }));
  EXPECT_EQ(order, (std::vector<std::uint64_t>{5, 3, 99, 0}));
}

/// Wherever the file ends: what is whole is there, what is not is as if it had never been.
TEST_F(JournalTest, DropsATornEndWhereverItIs) {
  std::vector<std::size_t> ends;
  {
    Result<Journal> journal = open();
    ends.push_back(bytes().size());
    for (std::uint64_t k = 0; k < 4; ++k) {
      ASSERT_TRUE(journal->append(outcome(k)));
      ends.push_back(bytes().size());
    }
  }
  const std::string whole = bytes();
  for (std::size_t size = 0; size <= whole.size(); ++size) {
    write(whole.substr(0, size));
    Result<Journal> journal = open();
    ASSERT_TRUE(journal) << size << ": " << journal.failure().to_string();
    const auto kept = static_cast<std::uint64_t>(
        std::count_if(ends.begin() + 1, ends.end(), [&](std::size_t end) { return end <= size; }));
    ASSERT_EQ(journal->finished(), kept) << size;
    ASSERT_EQ(journal->damaged(), 0U) << size;  // nobody is to blame
    ASSERT_TRUE(journal->append(outcome(50)));
    ASSERT_EQ(journal->read(50), outcome(50));
    if (kept > 0) {
      ASSERT_EQ(journal->read(0), outcome(0));
    }
  }
}

/// Whichever byte of the last record is damaged, and how: that it was there is told, once.
TEST_F(JournalTest, ADamagedByteAtTheEndIsSeen) {
  std::size_t begin = 0;
  {
    Result<Journal> journal = open();
    for (std::uint64_t k = 0; k < 3; ++k) {
      begin = bytes().size();
      ASSERT_TRUE(journal->append(outcome(k)));
    }
  }
  const std::string whole = bytes();
  for (std::size_t bit = 8 * begin; bit < 8 * whole.size(); ++bit) {
    std::string damaged = whole;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << bit % 8));
    write(damaged);
    for (const std::size_t told : {1U, 0U}) {
      Result<Journal> journal = open();
      ASSERT_EQ(journal->finished(), 2U) << bit;
      ASSERT_EQ(journal->damaged(), told) << bit;
    }
  }
}

/// Whichever byte is damaged: only the record that it is of is lost, and it can be made again.
TEST_F(JournalTest, DamageInTheMiddleCostsOneRecord) {
  std::vector<std::size_t> ends;
  {
    Result<Journal> journal = open();
    ends.push_back(bytes().size());
    for (std::uint64_t k = 0; k < 5; ++k) {
      ASSERT_TRUE(journal->append(outcome(k)));
      ends.push_back(bytes().size());
    }
  }
  const std::string whole = bytes();
  for (std::size_t at = ends[1]; at < ends[4]; ++at) {
    const auto lost = static_cast<std::uint64_t>(std::upper_bound(ends.begin(), ends.end(), at) - ends.begin() - 1);
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ (1 << at % 8));
    write(damaged);
    {
      Result<Journal> journal = open();
      ASSERT_TRUE(journal) << at << ": " << journal.failure().to_string();
      ASSERT_EQ(journal->finished(), 4U) << at;
      ASSERT_EQ(journal->damaged(), 1U) << at;
      ASSERT_EQ(journal->next_missing(0), lost) << at;
      ASSERT_TRUE(journal->append(outcome(lost)));
    }
    Result<Journal> journal = open();
    ASSERT_EQ(journal->finished(), 5U) << at;
    ASSERT_EQ(journal->damaged(), 0U) << at;  // it was told
    std::vector<std::uint64_t> order, expected{0, 1, 2, 3, 4};
    ASSERT_TRUE(journal->visit([&](const Outcome& o) { order.push_back(o.number); }));
    expected.erase(expected.begin() + static_cast<std::ptrdiff_t>(lost));
    expected.push_back(lost);
    ASSERT_EQ(order, expected) << at;
    for (std::uint64_t k = 0; k < 5; ++k) ASSERT_EQ(journal->read(k), outcome(k)) << at;
  }
}

/// What was told before is not told again beside what is new.
TEST_F(JournalTest, EachDamageIsToldOnce) {
  std::vector<std::size_t> ends;
  {
    Result<Journal> journal = open();
    for (std::uint64_t k = 0; k < 6; ++k) {
      ASSERT_TRUE(journal->append(outcome(k)));
      ends.push_back(bytes().size());
    }
  }
  const auto damage = [&](std::size_t at) {
    std::string damaged = bytes();
    damaged[at] = static_cast<char>(damaged[at] ^ 4);
    write(damaged);
  };
  damage(ends[0] + 20), damage(ends[2] + 20);  // cases 1 and 3
  EXPECT_EQ(open()->damaged(), 2U);
  EXPECT_EQ(open()->damaged(), 0U);
  {
    Result<Journal> journal = open();
    ASSERT_TRUE(journal->append(outcome(1)));
    ends.push_back(bytes().size());
    ASSERT_TRUE(journal->append(outcome(3)));
    ASSERT_TRUE(journal->append(outcome(7)));
  }
  damage(ends.back() + 20);  // case 3 again
  EXPECT_EQ(open()->damaged(), 1U);
  Result<Journal> journal = open();
  EXPECT_EQ(journal->damaged(), 0U);
  std::vector<std::uint64_t> order;
  ASSERT_TRUE(journal->visit([&](const Outcome& o) { order.push_back(o.number); }));
  EXPECT_EQ(order, (std::vector<std::uint64_t>{0, 2, 4, 5, 1, 7}));
}

/// Many records in a row, and much that is none.
TEST_F(JournalTest, FindsWhatFollowsALongDamage) {
  std::size_t first = 0, last = 0;
  {
    Result<Journal> journal = open();
    ASSERT_TRUE(journal->append(outcome(0)));
    first = bytes().size();
    for (std::uint64_t k = 1; k < 50; ++k) ASSERT_TRUE(journal->append(outcome(k)));
    last = bytes().size();
    ASSERT_TRUE(journal->append(outcome(50)));
  }
  const std::string whole = bytes();
  for (const char filler : {'\0', '\1', 'x'}) {
    write(std::string(whole).replace(first, last - first, std::string(200'000, filler)));
    Result<Journal> journal = open();
    ASSERT_TRUE(journal) << journal.failure().to_string();
    EXPECT_EQ(journal->finished(), 2U);
    EXPECT_EQ(journal->damaged(), 1U);
    EXPECT_EQ(journal->read(50), outcome(50));
  }
}

TEST_F(JournalTest, ADamagedHeadThrowsNothingAway) {
  { ASSERT_TRUE(open()->append(outcome(1))); }
  const std::string whole = bytes();
  const std::size_t text = std::string("kinegraph sweep 2\n").size() + 12, end = text + 12;
  ASSERT_EQ(whole.substr(text, 12), "verb: check\n");
  for (std::size_t at = text - 12; at < end; ++at) {  // its length, its checksum, its text
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 4);
    write(damaged);
    EXPECT_EQ(open().failure().to_string(),
              path_ + ": error: is damaged at its head: whose sweep it holds cannot be told; --restart throws it away");
    EXPECT_EQ(bytes(), damaged);
  }
  EXPECT_FALSE(
      open({"verb: check", std::string(2 * whole.size(), 'x')}));  // though its own head is longer than all that
  EXPECT_TRUE(open({"verb: check"}, true));
}

/// A head that was not written to its end holds nothing, whosever it is.
TEST_F(JournalTest, ATornHeadOfAnotherStudyIsReplaced) {
  const std::vector<std::string> other{"verb: simulate", std::string(500, 'x')};
  ASSERT_TRUE(open(other));
  const std::string whole = bytes();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    write(whole.substr(0, size));
    ASSERT_FALSE(Journal::is_begun(path_)) << size;
    const Result<Journal> journal = open();
    ASSERT_TRUE(journal) << size << ": " << journal.failure().to_string();
    ASSERT_EQ(journal->finished(), 0U);
    ASSERT_EQ(journal->damaged(), 0U);
  }
  write(whole);
  EXPECT_TRUE(Journal::is_begun(path_));
  EXPECT_FALSE(open());
}

TEST_F(JournalTest, RefusesAnotherStudy) {
  {
    Result<Journal> journal = open({"verb: check", "samples: 5"});
    ASSERT_TRUE(journal->append(outcome(1)));
  }
  const Result<Journal> refused = open({"verb: check", "samples: 6"});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.failure().to_string(),
            path_ +
                ": error: holds the unfinished sweep of another study ('samples: 6', was 'samples: 5'); --restart "
                "throws it away");
  EXPECT_EQ(refused.failure().exit_status(), 2);
  EXPECT_EQ(open({"verb: check", "samples: 5"})->finished(), 1U);
  EXPECT_EQ(open({"verb: check", "samples: 6"}, true)->finished(), 0U);
  EXPECT_TRUE(open({"verb: check", "samples: 6"}));
}

TEST_F(JournalTest, LeavesWhatIsNoJournalAlone) {
  write("my thesis");
  EXPECT_EQ(open().failure().to_string(), path_ + ": error: is in the way: it is no journal of a sweep");
  EXPECT_FALSE(open({}, true));
  EXPECT_EQ(bytes(), "my thesis");
}

TEST_F(JournalTest, OneSweepAtATime) {
  const Result<Journal> first = open();
  ASSERT_TRUE(first);
  EXPECT_EQ(open().failure().to_string(), path_ + ": error: another sweep is writing this journal");
}

TEST(Outcome, BytesThatAreNoneAreRefused) {
  const std::string bytes = encode(outcome(3));
  EXPECT_EQ(decode(bytes), outcome(3));
  for (std::size_t size = 0; size < bytes.size(); ++size) EXPECT_FALSE(decode(std::string_view(bytes).substr(0, size)));
  EXPECT_FALSE(decode(bytes + "x"));
}

}  // namespace
}  // namespace kinegraph::ensemble::journal_test

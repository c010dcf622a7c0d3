#include "kinegraph/ensemble/spread.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace kinegraph::ensemble {
namespace {

constexpr int kDigit = 11, kPasses = 6;

/// Unsigned numbers in the order of the doubles, and back.
std::uint64_t ordered(double x) {
  const auto bits = std::bit_cast<std::uint64_t>(x);
  return bits >> 63 ? ~bits : bits | (std::uint64_t{1} << 63);
}
double unordered(std::uint64_t key) {
  return std::bit_cast<double>(key >> 63 ? key & ~(std::uint64_t{1} << 63) : ~key);
}

int shift_of(int pass) { return std::max(0, 64 - kDigit * (pass + 1)); }
int bits_of(int pass) { return pass + 1 < kPasses ? kDigit : 64 - kDigit * (kPasses - 1); }

/// The numbers of given ranks (from 0) among many that are shown again in each pass.
class Selection {
 public:
  explicit Selection(const std::vector<std::uint64_t>& ranks) {
    for (const std::uint64_t rank : ranks) targets_.push_back({rank, 0, 0});
  }

  void begin_pass(int pass) {
    pass_ = pass;
    counts_.clear();
    std::vector<std::uint64_t> prefixes;
    for (Target& target : targets_) {  // equal prefixes share their counts
      const auto known = std::find(prefixes.begin(), prefixes.end(), target.prefix);
      target.histogram = static_cast<std::size_t>(known - prefixes.begin());
      if (known == prefixes.end()) prefixes.push_back(target.prefix);
    }
    prefixes_ = prefixes;
    counts_.assign(prefixes.size(), std::vector<std::uint64_t>(std::size_t{1} << bits_of(pass)));
  }

  void show(double x) {
    const std::uint64_t key = ordered(x), high = pass_ == 0 ? 0 : key >> shift_of(pass_ - 1);
    const std::uint64_t digit = (key >> shift_of(pass_)) & ((std::uint64_t{1} << bits_of(pass_)) - 1);
    for (std::size_t i = 0; i < prefixes_.size(); ++i) {
      if (prefixes_[i] == high) ++counts_[i][digit];
    }
  }

  void end_pass() {
    for (Target& target : targets_) {
      std::uint64_t digit = 0;
      const std::vector<std::uint64_t>& counts = counts_[target.histogram];
      while (digit + 1 < counts.size() && target.rank >= counts[digit]) target.rank -= counts[digit++];
      target.prefix = (target.prefix << bits_of(pass_)) | digit;
    }
  }

  double value(std::size_t i) const { return unordered(targets_[i].prefix); }

 private:
  struct Target {
    std::uint64_t rank, prefix;
    std::size_t histogram;
  };
  std::vector<Target> targets_;
  std::vector<std::uint64_t> prefixes_;
  std::vector<std::vector<std::uint64_t>> counts_;
  int pass_ = 0;
};

}  // namespace

void Moments::add(double x) {
  so_far_.min = so_far_.count == 0 ? x : std::min(so_far_.min, x);
  so_far_.max = so_far_.count == 0 ? x : std::max(so_far_.max, x);
  const double from_mean = x - so_far_.mean;
  so_far_.mean += from_mean / static_cast<double>(++so_far_.count);
  squares_ += from_mean * (x - so_far_.mean);
}

Spread Moments::spread() const {
  Spread found = so_far_;
  if (found.count > 1) found.sd = std::sqrt(squares_ / static_cast<double>(found.count - 1));
  return found;
}

Result<std::monostate> find_percentiles(Journal& journal, std::vector<Spread>& spreads, const Progress& progress) {
  std::vector<Selection> selections;
  const auto place = [](const Spread& spread, double percent) {
    return percent / 100 * static_cast<double>(spread.count == 0 ? 0 : spread.count - 1);
  };
  for (const Spread& spread : spreads) {
    std::vector<std::uint64_t> ranks;
    for (const double percent : kPercentiles) {
      ranks.push_back(static_cast<std::uint64_t>(std::floor(place(spread, percent))));
      ranks.push_back(static_cast<std::uint64_t>(std::ceil(place(spread, percent))));
    }
    selections.emplace_back(ranks);
  }
  for (int pass = 0; pass < kPasses; ++pass) {
    for (Selection& selection : selections) selection.begin_pass(pass);
    const auto show = [&](const Outcome& outcome) {
      for (std::size_t i = 0; i < std::min(outcome.cells.size(), selections.size()); ++i) {
        if (outcome.cells[i].kind == Cell::Kind::number) selections[i].show(outcome.cells[i].number);
      }
    };
    const auto shown =
        journal.visit(show, [&](double share) { return !progress || progress((pass + share) / kPasses); });
    if (!shown) return shown;
    for (Selection& selection : selections) selection.end_pass();
  }
  for (std::size_t i = 0; i < spreads.size(); ++i) {
    for (std::size_t p = 0; p < kPercentiles.size() && spreads[i].count > 0; ++p) {
      const double at = place(spreads[i], kPercentiles[p]);
      const double low = selections[i].value(2 * p), high = selections[i].value(2 * p + 1);
      spreads[i].percentiles[p] = low + (at - std::floor(at)) * (high - low);
    }
  }
  return std::monostate{};
}

}  // namespace kinegraph::ensemble

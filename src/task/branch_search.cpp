#include "kinegraph/task/branch_search.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace kinegraph::task {
namespace {

constexpr int kFewestGuesses = 60, kQuietGuesses = 40, kMostQuiet = 240, kMostGuesses = 2000;
constexpr std::size_t kMostCurves = 64;
constexpr double kStride = 0.06, kPoolStride = 0.25;  // typical lengths and radians
constexpr double kSameBranch = 1e-5;
constexpr double kMeet = 0.03;  // curves this near to a crossing of another go through it
constexpr int kNeighbours = 8, kFailures = 6, kRescues = 12;

/// Positions in a row that were all known, before a search ends.
int enough(std::size_t found) {
  return std::clamp(kQuietGuesses * static_cast<int>(found), kFewestGuesses, kMostQuiet);
}

}  // namespace

BranchSearch::BranchSearch(std::unique_ptr<ConfigurationSpace> space, const Eigen::VectorXd& q, std::uint64_t seed,
                           Spread spread)
    : space_(std::move(space)), path_(*space_), random_(seed, 0x6272616e636865), seed_(seed), spread_(spread) {
  // The rank at generic positions near the start, which may be singular itself.
  Continuation near(*space_);
  path_.meet(q);
  for (int found = 0, tries = 0; found < 4 && tries < 40; ++tries) {
    Eigen::VectorXd away(space_->tangent()), other;
    random_.normal(away.data(), space_->tangent());
    away *= 0.1 / away.norm();
    space_->retract(q, away, other);
    if (!near.close(other) || near.distance(q, other) > 0.3) continue;
    path_.meet(other);
    ++found;
  }
  freedoms_ = path_.freedoms();
  if (freedoms_ == 0) {
    search_points(q);
  } else if (freedoms_ == 1) {
    search_curves(q);
  } else {
    search_pool(q);
  }
}

/// A closed position from a random start; none if it does not close, or cannot move as the machine does.
bool BranchSearch::random_position(Eigen::VectorXd& q) {
  q = space_->random(random_);
  if (!path_.close(q) || !path_.mobile(q)) return false;
  space_->wrap(q);
  return true;
}

void BranchSearch::search_points(const Eigen::VectorXd& q) {
  pool_ = {q};
  Eigen::VectorXd other;
  int quiet = 0;
  for (int tries = 0; tries < kMostGuesses && quiet < enough(pool_.size()); ++tries) {
    if (!random_position(other)) continue;
    const bool known = std::any_of(pool_.begin(), pool_.end(),
                                   [&](const Eigen::VectorXd& p) { return path_.distance(p, other) < kSameBranch; });
    if (!known) pool_.push_back(other);
    quiet = known ? quiet + 1 : 0;
  }
  certain_ = quiet >= kFewestGuesses;
  label_.resize(pool_.size());
  std::iota(label_.begin(), label_.end(), 0);
  count_ = static_cast<int>(pool_.size());
}

std::vector<int> BranchSearch::by_distance(const std::vector<Eigen::VectorXd>& all, const Eigen::VectorXd& q) {
  std::vector<double> distance;
  for (const Eigen::VectorXd& p : all) distance.push_back(path_.distance(p, q));
  std::vector<int> order(all.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](int a, int b) { return distance[a] < distance[b]; });
  return order;
}

/// The curve on which a closed position lies; −1: none of those known.
int BranchSearch::curve_of(const Eigen::VectorXd& q) {
  for (std::size_t c = 0; c < curves_.size(); ++c) {
    // Nodes that are nearer than their neighbours.
    const std::vector<Eigen::VectorXd>& nodes = curves_[c].q;
    const int n = static_cast<int>(nodes.size());
    std::vector<double> distance;
    for (const Eigen::VectorXd& p : nodes) distance.push_back(path_.distance(p, q));
    for (int i = 0; i < n; ++i) {
      const double before = distance[(i + n - 1) % n], after = distance[(i + 1) % n];
      if (distance[i] > 3 * kStride || distance[i] > before || distance[i] > after) continue;
      if (path_.reach(nodes[i], q, kStride)) return static_cast<int>(c);
    }
  }
  return -1;
}

void BranchSearch::search_curves(const Eigen::VectorXd& q) {
  curves_.push_back(trace_curve(path_, q, kStride));
  Eigen::VectorXd other;
  int quiet = 0;
  for (int tries = 0; tries < kMostGuesses && quiet < enough(curves_.size()) && curves_.size() < kMostCurves; ++tries) {
    if (!random_position(other)) continue;
    const bool known = curve_of(other) >= 0;
    if (!known) curves_.push_back(trace_curve(path_, other, kStride));
    quiet = known ? quiet + 1 : 0;
  }
  certain_ =
      quiet >= kFewestGuesses && std::all_of(curves_.begin(), curves_.end(), [](const auto& c) { return c.whole; });
  root_.resize(curves_.size());
  std::iota(root_.begin(), root_.end(), 0);
  join_curves();
  number();
}

/// Curves that go through a crossing of another are one component with it.
void BranchSearch::join_curves() {
  for (std::size_t a = 0; a < curves_.size(); ++a) {
    for (const Eigen::VectorXd& crossing : curves_[a].crossings) {
      for (std::size_t b = 0; b < curves_.size(); ++b) {
        if (b == a) continue;
        Eigen::VectorXd way;
        for (std::size_t i = 0; i < curves_[b].q.size(); ++i) {
          // The distance from the line through a node along its tangent.
          space_->local(curves_[b].q[i], crossing, way);
          if (way.norm() > kStride) continue;
          way -= way.dot(curves_[b].tangent[i]) * curves_[b].tangent[i];
          if (way.norm() < kMeet) {
            root_[root(static_cast<int>(b))] = root(static_cast<int>(a));
            break;
          }
        }
      }
    }
  }
}

int BranchSearch::root(int i) {
  while (root_[i] != i) i = root_[i] = root_[root_[i]];
  return i;
}

/// Branches in the order in which they were met: that of the start is 0.
void BranchSearch::number() {
  std::vector<int> of_root(root_.size(), -1);
  label_.assign(root_.size(), 0);
  count_ = 0;
  for (std::size_t i = 0; i < root_.size(); ++i) {
    int& number = of_root[root(static_cast<int>(i))];
    if (number < 0) number = count_++;
    label_[i] = number;
  }
}

/// Tries to reach positions of other sets from one of the pool.
bool BranchSearch::join(int sample, int tries) {
  int neighbours = 0, failures = 0;
  bool joined = false;
  for (const int other : by_distance(pool_, pool_[sample])) {
    if (other == sample) continue;
    if (root(other) == root(sample)) {
      if (++neighbours >= tries) break;
      continue;
    }
    if (path_.reach(pool_[sample], pool_[other], kPoolStride)) {
      root_[root(sample)] = root(other);
      joined = true;
    } else if (++failures >= tries) {
      break;
    }
  }
  return joined;
}

void BranchSearch::search_pool(const Eigen::VectorXd& q) {
  pool_ = {q};
  Eigen::VectorXd other;
  const std::size_t most = std::clamp(60 * freedoms_, 120, 300);
  for (int tries = 0; tries < kMostGuesses && pool_.size() < most; ++tries) {
    if (random_position(other)) pool_.push_back(other);
  }
  root_.resize(pool_.size());
  std::iota(root_.begin(), root_.end(), 0);
  for (std::size_t i = 0; i < pool_.size(); ++i) join(static_cast<int>(i), i == 0 ? kNeighbours : kFailures);
  rescue();
  number();
  certain_ = count_ == 1 && pool_.size() == most;
}

/// Sets that stayed apart go for walks, and try again from there.
void BranchSearch::rescue() {
  for (int round = 0, vain = 0; round < kRescues && vain < 5; ++round) {
    std::vector<int> size(pool_.size());
    for (std::size_t i = 0; i < pool_.size(); ++i) ++size[root(static_cast<int>(i))];
    if (std::count_if(size.begin(), size.end(), [](int s) { return s > 0; }) == 1) return;
    const int largest = static_cast<int>(std::max_element(size.begin(), size.end()) - size.begin());
    bool joined = false;
    std::vector<int> walked(pool_.size());
    const std::size_t before = pool_.size();
    for (std::size_t i = 0; i < before; ++i) {
      const int set = root(static_cast<int>(i));
      if (set == root(largest) || set >= static_cast<int>(walked.size()) || ++walked[set] > kRescues) continue;
      Eigen::VectorXd away = pool_[i], direction(space_->tangent());
      random_.normal(direction.data(), space_->tangent());
      path_.walk(away, direction, 0.4 * (round + 1), kPoolStride);
      pool_.push_back(away);
      root_.push_back(set);
      joined = join(static_cast<int>(pool_.size()) - 1, kFailures) || joined;
    }
    vain = joined ? 0 : vain + 1;
  }
}

int BranchSearch::branch_of(const Eigen::VectorXd& q) {
  if (freedoms_ == 1) {
    const int curve = curve_of(q);
    if (curve >= 0) return label_[curve];
    double least = 1e300;
    int nearest = 0;
    for (std::size_t c = 0; c < curves_.size(); ++c) {
      for (const Eigen::VectorXd& p : curves_[c].q) {
        if (const double d = path_.distance(p, q); d < least) least = d, nearest = static_cast<int>(c);
      }
    }
    return label_[nearest];
  }
  const std::vector<int> order = by_distance(pool_, q);
  for (std::size_t i = 0; count_ > 1 && freedoms_ > 1 && i < order.size() && i < 3 * kNeighbours; ++i) {
    if (path_.reach(q, pool_[order[i]], kPoolStride)) return label_[order[i]];
  }
  return label_[order[0]];
}

/// How far the spread coordinate has come at each node, back and forth; the last number is that of the whole curve.
std::vector<double> BranchSearch::measure(const ConfigurationCurve& curve) {
  std::vector<double> sum = {0};
  const std::size_t n = curve.q.size(), segments = curve.closed ? n : n - 1;
  for (std::size_t i = 0; i < segments; ++i) {
    const Eigen::VectorXd &a = curve.q[i], &b = curve.q[(i + 1) % n];
    double d = 0;
    if (spread_.coordinate >= 0) {
      d = b[spread_.coordinate] - a[spread_.coordinate];
      d = std::abs(spread_.angle ? std::remainder(d, 2 * M_PI) : d);
    } else {
      d = path_.distance(a, b);
    }
    sum.push_back(sum.back() + d);
  }
  return sum;
}

Eigen::VectorXd BranchSearch::between(const ConfigurationCurve& curve, std::size_t i, double share) {
  Eigen::VectorXd way, q;
  const Eigen::VectorXd& a = curve.q[i];
  space_->local(a, curve.q[(i + 1) % curve.q.size()], way);
  way *= share;
  space_->retract(a, way, q);
  Eigen::VectorXd closed = q;
  if (!path_.correct(closed) || path_.distance(q, closed) > kStride) closed = a;
  space_->wrap(closed);
  return closed;
}

std::vector<BranchSearch::Sample> BranchSearch::samples(int n) {
  std::vector<Sample> list;
  if (freedoms_ != 1) {
    Random random(seed_, 0x73616d706c6573);
    for (int b = 0; b < count_; ++b) {
      std::vector<int> members;
      for (std::size_t i = 0; i < pool_.size(); ++i) {
        if (label_[i] == b) members.push_back(static_cast<int>(i));
      }
      for (int k = 0; k < n; ++k) {
        Eigen::VectorXd q = pool_[members[k % members.size()]], direction(space_->tangent());
        if (freedoms_ > 1 && k >= static_cast<int>(members.size())) {
          random.normal(direction.data(), space_->tangent());
          path_.walk(q, direction, random.uniform(0.1, 1), kPoolStride);
        }
        space_->wrap(q);
        list.push_back({q, b, b});
      }
    }
    return list;
  }
  for (int b = 0; b < count_; ++b) {
    // The arcs of the branch one after the other, n even parts of the whole.
    double whole = 0;
    std::vector<std::vector<double>> sums(curves_.size());
    for (std::size_t c = 0; c < curves_.size(); ++c) {
      if (label_[c] == b) sums[c] = measure(curves_[c]), whole += sums[c].back();
    }
    int k = 0;
    double before = 0;
    for (std::size_t c = 0; c < curves_.size(); ++c) {
      if (label_[c] != b) continue;
      for (std::size_t i = 0; i + 1 < sums[c].size(); ++i) {
        const double from = before + sums[c][i], to = before + sums[c][i + 1];
        for (; k < n && (k + 0.5) / n * whole < to; ++k) {
          const double share = to > from ? ((k + 0.5) / n * whole - from) / (to - from) : 0;
          list.push_back({between(curves_[c], i, std::clamp(share, 0.0, 1.0)), b, static_cast<int>(c)});
        }
      }
      before += sums[c].back();
    }
    for (; k < n; ++k) {  // rounding, or a coordinate that does not move
      const auto c = std::find(label_.begin(), label_.end(), b) - label_.begin();
      list.push_back({between(curves_[c], k % curves_[c].q.size(), 0), b, static_cast<int>(c)});
    }
  }
  return list;
}

std::vector<BranchSearch::Sample> BranchSearch::where(int coordinate, bool angle, double value) {
  std::vector<Sample> list;
  for (std::size_t c = 0; c < curves_.size(); ++c) {
    const ConfigurationCurve& curve = curves_[c];
    const std::size_t n = curve.q.size(), segments = curve.closed ? n : n - 1;
    for (std::size_t i = 0; i < segments; ++i) {
      const auto miss = [&](const Eigen::VectorXd& q) {
        const double d = q[coordinate] - value;
        return angle ? std::remainder(d, 2 * M_PI) : d;
      };
      const double a = miss(curve.q[i]), b = miss(curve.q[(i + 1) % n]);
      if ((a < 0) == (b < 0) || std::abs(a - b) > M_PI) continue;
      list.push_back({between(curve, i, a / (a - b)), label_[c], static_cast<int>(c)});
    }
  }
  return list;
}

std::vector<std::string> BranchSearch::names() {
  std::vector<std::string> names(count_);
  if (count_ == 1) return names;
  // low[s][b], high[s][b]: of each sign over the positions of each branch
  std::vector<std::vector<double>> low, high;
  const auto see = [&](const Eigen::VectorXd& q, int b) {
    const std::vector<double> signs = space_->signs(q);
    if (low.empty()) low.assign(signs.size(), std::vector<double>(count_, 1e300)), high = low;
    for (std::size_t s = 0; s < signs.size(); ++s) {
      if (low[s][b] == 1e300) low[s][b] = high[s][b] = signs[s];
      low[s][b] = std::min(low[s][b], signs[s]);
      high[s][b] = std::max(high[s][b], signs[s]);
    }
  };
  for (std::size_t c = 0; c < curves_.size(); ++c) {
    for (const Eigen::VectorXd& q : curves_[c].q) see(q, label_[c]);
  }
  for (std::size_t i = 0; i < pool_.size() && curves_.empty(); ++i) see(pool_[i], label_[i]);

  // Signs that no branch changes are added as long as they tell apart some that are not told apart yet.
  std::vector<int> group(count_, 0);
  int groups = 1;
  for (double least : {0.05, 1e-3}) {
    for (std::size_t s = 0; s < low.size() && groups < count_; ++s) {
      bool steady = true;
      std::vector<int> finer(count_);
      for (int b = 0; b < count_; ++b) {
        steady = steady && (low[s][b] > least || high[s][b] < -least);
        finer[b] = 2 * group[b] + (low[s][b] > 0);
      }
      if (!steady) continue;
      std::vector<int> distinct = finer;
      std::sort(distinct.begin(), distinct.end());
      distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
      if (static_cast<int>(distinct.size()) == groups) continue;
      groups = static_cast<int>(distinct.size());
      for (int b = 0; b < count_; ++b) {
        group[b] = static_cast<int>(std::lower_bound(distinct.begin(), distinct.end(), finer[b]) - distinct.begin());
        names[b] += (names[b].empty() ? "" : ", ") + space_->sign_name(static_cast<int>(s), low[s][b] > 0);
      }
    }
  }
  return names;
}

}  // namespace kinegraph::task

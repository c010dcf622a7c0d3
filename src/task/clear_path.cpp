#include "kinegraph/task/clear_path.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <optional>

namespace kinegraph::task {
namespace {

using build::PlanSetting;

constexpr double kReach = 0.3;                // rad or m: how far a branch grows, at most
constexpr double kLook = 0.03;                // rad or m: between two looks at the clearance
constexpr int kMostLooks = 10000;             // then there is no answer
constexpr double kBeyond = std::numbers::pi;  // rad or m: beyond both ends, of joints without limits

/// The digits of a whole number in a base, behind the point in reverse order: evenly spread over 0 to 1.
double halton(int index, int base) {
  double sum = 0, share = 1;
  for (; index > 0; index /= base) {
    share /= base;
    sum += share * (index % base);
  }
  return sum;
}

int nth_prime(std::size_t n) {
  constexpr std::array primes{2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53};
  return primes[n % primes.size()];
}

struct Branch {
  Eigen::VectorXd q;
  int from;  // −1: the root
};
using Growth = std::vector<Branch>;

class Search {
 public:
  Search(const PlanSetting& setting, int knot) : setting_(setting), knot_(knot) {}

  bool clear(const Eigen::VectorXd& q) {
    ++looks_;
    return is_clear(setting_, q, knot_);
  }

  /// The way to it, its end included.
  bool clear_way(const Eigen::VectorXd& from, const Eigen::VectorXd& to) {
    const int parts = std::max(1, static_cast<int>(std::ceil((to - from).lpNorm<Eigen::Infinity>() / kLook)));
    for (int i = 1; i <= parts; ++i) {
      if (!clear(from + (to - from) * (static_cast<double>(i) / parts))) return false;
    }
    return true;
  }

  std::vector<Eigen::VectorXd> run(const Eigen::VectorXd& from, const Eigen::VectorXd& to) {
    if (!clear(from) || !clear(to)) return {};
    set_range(from, to);
    std::array<Growth, 2> trees{Growth{{from, -1}}, Growth{{to, -1}}};
    for (int sample = 1; looks_ < kMostLooks; ++sample) {
      const int grows = sample % 2;
      if (!grow(trees[grows], point(sample))) continue;
      const Eigen::VectorXd aim = trees[grows].back().q;
      while (looks_ < kMostLooks && grow(trees[1 - grows], aim)) {
        if (trees[1 - grows].back().q == aim) return shortened(joined(trees));
      }
    }
    return {};
  }

 private:
  void set_range(const Eigen::VectorXd& from, const Eigen::VectorXd& to) {
    low_ = from.cwiseMin(to).array() - kBeyond;
    high_ = from.cwiseMax(to).array() + kBeyond;
    const Eigen::Index first = from.size() - static_cast<Eigen::Index>(setting_.lower.size());
    for (std::size_t j = 0; j < setting_.lower.size(); ++j) {
      low_[first + j] = std::max(low_[first + j], setting_.lower[j]);
      high_[first + j] = std::min(high_[first + j], setting_.upper[j]);
    }
  }

  Eigen::VectorXd point(int sample) const {
    Eigen::VectorXd q(low_.size());
    for (Eigen::Index i = 0; i < q.size(); ++i) {
      q[i] = low_[i] + (high_[i] - low_[i]) * halton(sample, nth_prime(static_cast<std::size_t>(i)));
    }
    return q;
  }

  /// From its nearest branch towards a point; false if that way is barred.
  bool grow(Growth& tree, const Eigen::VectorXd& aim) {
    int nearest = 0;
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < tree.size(); ++i) {
      const double far = (tree[i].q - aim).squaredNorm();
      if (far < least) least = far, nearest = static_cast<int>(i);
    }
    const Eigen::VectorXd from = tree[nearest].q;
    const double far = (aim - from).lpNorm<Eigen::Infinity>();
    if (far == 0) return false;
    const Eigen::VectorXd to = far <= kReach ? aim : Eigen::VectorXd(from + kReach / far * (aim - from));
    if (!clear_way(from, to)) return false;
    tree.push_back({to, nearest});
    return true;
  }

  static std::vector<Eigen::VectorXd> joined(const std::array<Growth, 2>& trees) {
    std::vector<Eigen::VectorXd> path;
    for (int i = static_cast<int>(trees[0].size()) - 1; i >= 0; i = trees[0][i].from) path.push_back(trees[0][i].q);
    std::reverse(path.begin(), path.end());
    for (int i = trees[1].back().from; i >= 0; i = trees[1][i].from) path.push_back(trees[1][i].q);
    return path;
  }

  /// From each corner straight to the last one that can be seen from it.
  std::vector<Eigen::VectorXd> shortened(const std::vector<Eigen::VectorXd>& path) {
    std::vector<Eigen::VectorXd> corners{path.front()};
    for (std::size_t at = 0; at + 1 < path.size();) {
      std::size_t next = path.size() - 1;
      while (next > at + 1 && !clear_way(path[at], path[next])) --next;
      corners.push_back(path[next]);
      at = next;
    }
    return corners;
  }

  const PlanSetting& setting_;
  int knot_, looks_ = 0;
  Eigen::VectorXd low_, high_;
};

}  // namespace

bool is_clear(const PlanSetting& setting, const Eigen::VectorXd& q, int knot) {
  return build::least_distance(setting, q, knot).first >= setting.margin;
}

std::vector<Eigen::VectorXd> clear_path(const PlanSetting& setting, const Eigen::VectorXd& from,
                                        const Eigen::VectorXd& to, int knot) {
  return Search(setting, knot).run(from, to);
}

}  // namespace kinegraph::task

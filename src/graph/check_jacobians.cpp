#include "kinegraph/graph/check_jacobians.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <random>
#include <set>
#include <tuple>

namespace kinegraph {
namespace {

constexpr int kShownFaults = 8;

std::vector<const double*> pointers(const SlotValues& x) {
  std::vector<const double*> p;
  for (const auto& slot : x) p.push_back(slot.data());
  return p;
}

/// The differences of one column: central, with steps halved and extrapolated (Ridders 1982), the best of the tableau
/// kept for each row by its own error estimate.
class Differences {
 public:
  Differences(const Factor& factor, const SlotValues& x, const JacobianCheckOptions& options)
      : factor_(factor), x_(x), options_(options) {}

  std::vector<double> column(int slot, int column) {
    const int rows = factor_.rows();
    const double size = options_.manifolds.empty() ? std::abs(x_[slot][column]) : 0.0;
    const double h0 = options_.step * std::max(1.0, size);
    std::vector<std::array<std::array<double, kLevels>, kLevels>> tableau(rows);
    std::vector<double> best(rows), error(rows, std::numeric_limits<double>::infinity());
    for (int i = 0; i < kLevels; ++i) {
      const std::vector<double> d = central(slot, column, std::ldexp(h0, -i));
      for (int r = 0; r < rows; ++r) {
        auto& a = tableau[r];
        a[i][0] = d[r];
        for (int j = 1; j <= i; ++j) {
          a[i][j] = a[i][j - 1] + (a[i][j - 1] - a[i - 1][j - 1]) / (std::ldexp(1.0, 2 * j) - 1);
          const double e = std::max(std::abs(a[i][j] - a[i][j - 1]), std::abs(a[i][j] - a[i - 1][j - 1]));
          if (e < error[r]) error[r] = e, best[r] = a[i][j];
        }
      }
    }
    return best;
  }

 private:
  static constexpr int kLevels = 8;

  std::vector<double> central(int slot, int column, double h) {
    std::vector<double> plus(factor_.rows()), minus(factor_.rows());
    const std::vector<double> middle = x_[slot];
    move(slot, column, h);
    factor_.evaluate(pointers(x_), plus.data(), nullptr);
    x_[slot] = middle;
    move(slot, column, -h);
    factor_.evaluate(pointers(x_), minus.data(), nullptr);
    x_[slot] = middle;
    for (int r = 0; r < factor_.rows(); ++r) plus[r] = (plus[r] - minus[r]) / (2 * h);
    return plus;
  }

  void move(int slot, int column, double h) {
    if (options_.manifolds.empty()) {
      x_[slot][column] += h;
      return;
    }
    const Manifold& manifold = options_.manifolds[slot];
    std::vector<double> delta(manifold.tangent(), 0.0);
    delta[column] = h;
    manifold.retract(x_[slot].data(), delta.data(), x_[slot].data());
  }

  const Factor& factor_;
  SlotValues x_;
  const JacobianCheckOptions& options_;
};

class Check {
 public:
  Check(const Factor& factor, const SlotValues& x, const JacobianCheckOptions& options)
      : factor_(factor), x_(x), options_(options) {}

  JacobianCheck run() {
    if (!sizes_fit() || !pattern_is_sound()) return finish();
    evaluate();
    compare();
    if (factor_.constant_jacobian() && options_.manifolds.empty()) compare_elsewhere();
    return finish();
  }

 private:
  bool sizes_fit() {
    if (x_.size() != factor_.slot_sizes().size()) {
      fault(fmt::format("{} slots given, the factor has {}", x_.size(), factor_.slot_sizes().size()));
      return false;
    }
    if (!options_.manifolds.empty() && options_.manifolds.size() != x_.size()) {
      fault(fmt::format("{} manifolds given for {} slots", options_.manifolds.size(), x_.size()));
      return false;
    }
    for (std::size_t s = 0; s < x_.size(); ++s)
      if (static_cast<int>(x_[s].size()) != factor_.slot_sizes()[s])
        fault(fmt::format("slot {}: {} numbers given, the factor wants {}", s, x_[s].size(), factor_.slot_sizes()[s]));
    return result_.ok();
  }

  bool pattern_is_sound() {
    std::set<std::tuple<int, int, int>> seen;
    const int slots = static_cast<int>(x_.size());
    for (const JacobianEntry& e : factor_.pattern()) {
      const bool inside = e.row >= 0 && e.row < factor_.rows() && e.slot >= 0 && e.slot < slots && e.column >= 0 &&
                          e.column < directions(e.slot);
      if (!inside) fault(fmt::format("entry (row {}, slot {}, column {}) is out of range", e.row, e.slot, e.column));
      if (!seen.insert({e.row, e.slot, e.column}).second)
        fault(fmt::format("entry (row {}, slot {}, column {}) is there twice", e.row, e.slot, e.column));
    }
    return result_.ok();
  }

  int directions(int slot) const {
    return options_.manifolds.empty() ? factor_.slot_sizes()[slot] : options_.manifolds[slot].tangent();
  }

  void evaluate() {
    residual_.assign(factor_.rows(), std::nan(""));
    jacobian_.assign(factor_.pattern().size(), std::nan(""));
    std::vector<double> alone(factor_.rows(), std::nan(""));
    factor_.evaluate(pointers(x_), residual_.data(), jacobian_.data());
    factor_.evaluate(pointers(x_), alone.data(), nullptr);
    for (int r = 0; r < factor_.rows(); ++r) {
      const double allowed = 1e-13 * std::max(1.0, std::abs(alone[r]));
      if (!std::isfinite(residual_[r])) fault(fmt::format("{}: the residual is {}", factor_.row_name(r), residual_[r]));
      if (!(std::abs(residual_[r] - alone[r]) <= allowed))
        fault(fmt::format("{}: the residual is {} with the Jacobian and {} without", factor_.row_name(r), residual_[r],
                          alone[r]));
    }
  }

  bool known(int slot) const {
    return std::find(options_.known_slots.begin(), options_.known_slots.end(), slot) != options_.known_slots.end();
  }

  void compare() {
    // (slot, column) → stated and measured derivatives of every row; a row's scale is known only when all are.
    struct Column {
      int slot, column;
      std::vector<double> stated, measured;
    };
    std::vector<Column> columns;
    std::vector<double> scale(factor_.rows(), 1e-12);
    for (int r = 0; r < factor_.rows(); ++r) scale[r] = std::max(scale[r], std::abs(residual_[r]));
    Differences differences(factor_, x_, options_);
    for (int s = 0; s < static_cast<int>(x_.size()); ++s) {
      if (known(s)) continue;
      for (int c = 0; c < directions(s); ++c) {
        columns.push_back({s, c, stated(s, c), differences.column(s, c)});
        for (int r = 0; r < factor_.rows(); ++r) scale[r] = std::max(scale[r], std::abs(columns.back().measured[r]));
      }
    }
    for (const Column& c : columns)
      for (int r = 0; r < factor_.rows(); ++r) judge(r, c.slot, c.column, c.stated[r], c.measured[r], scale[r]);
  }

  std::vector<double> stated(int slot, int column) const {
    std::vector<double> values(factor_.rows(), 0.0);
    for (std::size_t k = 0; k < jacobian_.size(); ++k) {
      const JacobianEntry& e = factor_.pattern()[k];
      if (e.slot == slot && e.column == column) values[e.row] = jacobian_[k];
    }
    return values;
  }

  void judge(int row, int slot, int column, double stated, double measured, double scale) {
    const double error = std::abs(stated - measured) / scale;
    if (!(error <= result_.worst)) result_.worst = std::isnan(error) ? std::numeric_limits<double>::infinity() : error;
    if (error <= options_.tolerance) return;
    const auto same = [&](const JacobianEntry& e) { return e.row == row && e.slot == slot && e.column == column; };
    const bool outside = std::none_of(factor_.pattern().begin(), factor_.pattern().end(), same);
    fault(fmt::format("{}: by slot {}, column {}: stated {:.12g}{}, measured {:.12g}", factor_.row_name(row), slot,
                      column, stated, outside ? " (outside the pattern)" : "", measured));
  }

  void compare_elsewhere() {
    const SlotValues elsewhere = random_slots(factor_, 20210712, 3.0);
    std::vector<double> residual(factor_.rows()), other(jacobian_.size());
    factor_.evaluate(pointers(elsewhere), residual.data(), other.data());
    if (other != jacobian_) fault("the Jacobian is called constant but depends on the values");
  }

  void fault(const std::string& text) {
    if (faults_++ < kShownFaults) result_.message += factor_.name() + ": " + text + "\n";
  }

  JacobianCheck finish() {
    if (faults_ > kShownFaults) result_.message += fmt::format("and {} more\n", faults_ - kShownFaults);
    return result_;
  }

  const Factor& factor_;
  const SlotValues& x_;
  const JacobianCheckOptions& options_;
  std::vector<double> residual_, jacobian_;
  JacobianCheck result_;
  int faults_ = 0;
};

}  // namespace

JacobianCheck check_jacobians(const Factor& factor, const SlotValues& x, const JacobianCheckOptions& options) {
  return Check(factor, x, options).run();
}

SlotValues random_slots(const Factor& factor, unsigned seed, double scale) {
  std::mt19937 generator(seed);
  SlotValues x;
  for (const int size : factor.slot_sizes()) {
    x.emplace_back(size);
    // Not std::uniform_real_distribution: its numbers differ between libraries.
    for (double& value : x.back()) value = scale * (2.0 * generator() / 4294967295.0 - 1.0);
  }
  return x;
}

}  // namespace kinegraph

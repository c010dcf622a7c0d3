#include "kinegraph/task/branch_march.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace kinegraph::task {
namespace {

constexpr double kMismatch = 0.1;      // of the way of a row: more does not fit together
constexpr double kSmallestWay = 1e-6;  // δ: less than this is standing still
constexpr double kDigits = 50;
constexpr double kLongestRow = 0.2;  // δ: rates of one row say nothing of a row farther away
constexpr double kBent = 0.1;        // of the way: a correction that is small
constexpr double kTrustRates = 1e-7, kTrustAccelerations = 1e-6;  // margins at which extrapolation knows more

}  // namespace

BranchMarch::BranchMarch(ClosedPositions& positions, std::vector<int> leading, std::vector<int> following,
                         std::vector<std::string> names, const Options& options)
    : positions_(positions),
      follower_(positions, std::move(following)),
      leading_(std::move(leading)),
      names_(std::move(names)),
      options_(options) {}

void BranchMarch::begin(const Eigen::VectorXd& q) {
  at_.q = q;
  at_.v = at_.a = Eigen::VectorXd::Zero(positions_.changes());
  row_ = false;
}

void BranchMarch::choose_leading(const Eigen::VectorXd& q) {
  Eigen::VectorXd phi;
  Eigen::MatrixXd jacobian;
  positions_.evaluate(q, phi, &jacobian);
  std::vector<int> tied = leading_;
  tied.insert(tied.end(), follower_.following().begin(), follower_.following().end());
  std::sort(tied.begin(), tied.end());
  Eigen::ColPivHouseholderQR<Eigen::MatrixXd> qr(jacobian(Eigen::all, tied));
  std::vector<int> following;
  leading_.clear();
  for (std::size_t i = 0; i < tied.size(); ++i) {
    const int column = tied[qr.colsPermutation().indices()[static_cast<Eigen::Index>(i)]];
    (i < follower_.following().size() ? following : leading_).push_back(column);
  }
  follower_.set_following(std::move(following));
}

// e = q₁ ⊖ q₀ − (h/2)(q̇₀ + q̇₁) + (h²/12)(q̈₁ − q̈₀), the largest over the longest way of any of the columns. Of ways as
// short as a last digit becomes with this margin nothing is said.
double BranchMarch::mismatch(const std::vector<int>& columns, const MarchState& next, double margin,
                             Candidate* worst) const {
  const double h = next.t - at_.t;
  Eigen::VectorXd delta;
  positions_.local(at_.q, next.q, delta);
  double way = kSmallestWay + kDigits * options_.digits / std::max(margin, 1e-6), most = 0;
  for (const int c : columns) {
    const double unit = positions_.scale(c);
    double says = h / 2 * (at_.v[c] + next.v[c]);
    if (options_.accelerations) says -= h * h / 12 * (next.a[c] - at_.a[c]);
    way = std::max({way, std::abs(delta[c]), h * std::abs(at_.v[c]) / unit, h * std::abs(next.v[c]) / unit});
    const double off = std::abs(delta[c] - says / unit);
    if (!(off <= most)) {
      most = off;
      if (worst) worst->worst = c, worst->moved = delta[c] * unit, worst->told = says;
    }
  }
  return most / way;
}

Eigen::VectorXd BranchMarch::extrapolated(const MarchState& wanted) const {
  const double h = wanted.t - at_.t;
  Eigen::VectorXd ahead = Eigen::VectorXd::Zero(positions_.changes()), way;
  positions_.local(at_.q, wanted.q, way);
  for (const int c : leading_) ahead[c] = way[c];
  for (const int c : follower_.following()) ahead[c] = (h * at_.v[c] + h * h / 2 * at_.a[c]) / positions_.scale(c);
  return ahead;
}

/// Rates and accelerations at a closed position, and how well they fit to the last row.
void BranchMarch::complete(Candidate& candidate, const MarchState& wanted) const {
  MarchState& s = candidate.state;
  const double h = in_time_ ? wanted.t - at_.t : 0;
  follower_.look(s.q);
  candidate.margin = follower_.margin();
  candidate.weakest = follower_.weakest();
  if (follower_.following().empty()) {
    candidate.found = true;
    return;
  }
  for (const int c : follower_.following()) {
    s.v[c] = in_time_ ? at_.v[c] + h * at_.a[c] : wanted.v[c];
    s.a[c] = in_time_ ? at_.a[c] : wanted.a[c];
  }
  Eigen::VectorXd gamma = Eigen::VectorXd::Zero(follower_.rows());
  candidate.found = follower_.complete(gamma, in_time_ ? kTrustRates : 1e-13, s.v);
  if (candidate.found && options_.accelerations) {
    positions_.curvature(s.q, s.v, gamma);
    follower_.complete(gamma, in_time_ ? kTrustAccelerations : 1e-13, s.a);
    candidate.found = s.a.allFinite();
  }
  if (candidate.found && in_time_) {
    candidate.mismatch = mismatch(follower_.following(), s, candidate.margin, &candidate);
  }
}

BranchMarch::Candidate BranchMarch::told_position(const MarchState& wanted, const std::vector<int>& told) {
  Candidate candidate;
  Eigen::VectorXd ahead = in_time_ ? extrapolated(wanted) : Eigen::VectorXd::Zero(positions_.changes()).eval(), way;
  positions_.local(at_.q, wanted.q, way);
  for (const int c : leading_) ahead[c] = way[c];
  for (const int c : told) ahead[c] = way[c];
  positions_.retract(at_.q, ahead, candidate.state.q);
  if (!follower_.correct(candidate.state.q)) return candidate;
  positions_.local(candidate.state.q, wanted.q, way);
  for (const int c : told) {
    if (std::abs(way[c]) > options_.torn) return candidate;
  }
  candidate.state.t = wanted.t, candidate.state.v = wanted.v, candidate.state.a = wanted.a;
  complete(candidate, wanted);
  return candidate;
}

BranchMarch::Candidate BranchMarch::along_rates(const MarchState& wanted) {
  Candidate candidate;
  const Eigen::VectorXd ahead = extrapolated(wanted);
  double step = 0;
  for (const int c : follower_.following()) step = std::max(step, std::abs(ahead[c]));
  if (!(step < kLongestRow)) return candidate;
  Eigen::VectorXd guess;
  positions_.retract(at_.q, ahead, guess);
  candidate.state = {wanted.t, guess, wanted.v, wanted.a};
  if (!follower_.correct(candidate.state.q)) return candidate;
  candidate.correction = follower_.apart(guess, candidate.state.q) / std::max(step, kSmallestWay);
  if (candidate.correction > 0.5) return candidate;
  follower_.look(at_.q);
  candidate.same_side = follower_.same_side(candidate.state.q);
  complete(candidate, wanted);
  return candidate;
}

BranchMarch::Candidate BranchMarch::along_path(const MarchState& wanted, double* share) {
  Candidate candidate;
  Eigen::VectorXd way = Eigen::VectorXd::Zero(positions_.changes()), all;
  positions_.local(at_.q, wanted.q, all);
  for (const int c : leading_) way[c] = all[c];
  candidate.state = {wanted.t, at_.q, wanted.v, wanted.a};
  *share = follower_.follow(candidate.state.q, way);
  candidate.same_side = !follower_.crossed();
  if (*share == 1) complete(candidate, wanted);
  return candidate;
}

Result<std::monostate> BranchMarch::watch(const MarchState& next) {
  Candidate candidate;
  candidate.found = true;
  candidate.state = next;
  in_time_ = row_ && next.t > at_.t && mismatch(leading_, next, 1, nullptr) < kMismatch;
  if (options_.margins) {
    if (in_time_) {
      follower_.look(at_.q);
      candidate.same_side = follower_.same_side(next.q);
    }
    follower_.look(next.q);
    candidate.margin = follower_.margin();
    candidate.weakest = follower_.weakest();
  }
  if (in_time_) candidate.mismatch = mismatch(follower_.following(), next, candidate.margin, &candidate);
  return accept(candidate, false);
}

MarchState BranchMarch::shifted(double epsilon) const {
  MarchState s = at_;
  follower_.look(at_.q);
  const Eigen::VectorXd shift = epsilon / std::max(margin_, 1e-12) * follower_.loosest();
  positions_.retract(at_.q, shift, s.q);
  follower_.look(s.q);
  Eigen::VectorXd gamma = Eigen::VectorXd::Zero(follower_.rows());
  follower_.complete(gamma, 1e-13, s.v);
  positions_.curvature(s.q, s.v, gamma);
  follower_.complete(gamma, 1e-13, s.a);
  return s;
}

Result<std::monostate> BranchMarch::go(const MarchState& wanted, const std::vector<int>& told) {
  in_time_ = row_ && wanted.t > at_.t;
  in_time_ = in_time_ && mismatch(leading_, wanted, 1, nullptr) < kMismatch;
  if (!told.empty()) {
    Candidate by_table = told_position(wanted, told);
    if (by_table.found) return accept(by_table, false);
  }
  Candidate by_rates;
  if (in_time_) by_rates = along_rates(wanted);
  const bool clear = by_rates.found && by_rates.same_side && by_rates.correction < kBent &&
                     by_rates.margin > options_.near && by_rates.mismatch < kMismatch;
  if (clear) return accept(by_rates, false);
  double share = 0;
  Candidate by_path = along_path(wanted, &share);
  if (!by_path.found && !by_rates.found) {
    if (follower_.lost()) {
      return Failure::no_answer(
          fmt::format("on the way there nothing but '{}' itself tells where it is: the loops are singular all along",
                      names_[follower_.weakest()]));
    }
    if (share < 1) return Failure::no_answer(fmt::format("the loops hold it after {:.3g} % of the way", 100 * share));
    return Failure::no_answer(
        fmt::format("the rates contradict the loops: '{}' cannot follow", names_[by_path.weakest]));
  }
  const bool rates = by_rates.found && (!by_path.found || by_rates.mismatch < by_path.mismatch);
  return accept(rates ? by_rates : by_path, !by_path.found);
}

void BranchMarch::note(Event& event, double t, double size, int column) {
  if (event.rows++ > 0 && size >= event.size) return;
  event.from = at_.t, event.to = t, event.size = size, event.column = column;
}

Result<std::monostate> BranchMarch::accept(Candidate& chosen, bool held) {
  const bool near = chosen.margin < options_.near,
             singular = near || margin_ < options_.near || !chosen.same_side || held;
  if (in_time_ && chosen.mismatch > kMismatch) {
    if (singular) {
      return Failure::no_answer(fmt::format(
          "the loops pass a singular position, and the motion does not tell how '{}' goes on there: it would "
          "move by {:.3g} (m, rad) where its rates say {:.3g}; give its position in the table too",
          names_[chosen.worst], chosen.moved, chosen.told));
    }
    note(doubtful_, chosen.state.t, -chosen.mismatch, chosen.worst);
  }
  if (near) note(near_, chosen.state.t, chosen.margin, chosen.weakest);
  if (row_ && !chosen.same_side) note(passed_, chosen.state.t, chosen.margin, chosen.weakest);
  margin_ = chosen.margin;
  at_ = std::move(chosen.state);
  row_ = true;
  return std::monostate{};
}

std::vector<std::string> BranchMarch::warnings() const {
  std::vector<std::string> list, lead;
  for (const int c : leading_) lead.push_back(names_[c]);
  if (passed_.rows > 0) {
    list.push_back(
        fmt::format("between t = {:g} s and {:g} s the loops pass a singular position, from which '{}' could go on two "
                    "ways with the "
                    "same motion of {}: the one that continues its rate is taken{}",
                    passed_.from, passed_.to, names_[passed_.column], fmt::join(lead, ", "),
                    passed_.rows > 1 ? fmt::format(" (so at {} rows)", passed_.rows) : ""));
  }
  if (near_.rows > 0) {
    list.push_back(fmt::format(
        "at t = {:g} s the loops are near a singular position ({:.2g} of the way to it is left), in which {} do not "
        "determine '{}': rates, accelerations and torques have fewer digits there{}",
        near_.to, near_.size, fmt::join(lead, ", "), names_[near_.column],
        near_.rows > 1 ? fmt::format(" (so at {} rows)", near_.rows) : ""));
  }
  if (doubtful_.rows > 0) {
    list.push_back(
        fmt::format("between t = {:g} s and {:g} s '{}' moves otherwise than its rates say, by {:.2g} of its way: the "
                    "rows are too far "
                    "apart to tell that it keeps its branch{}",
                    doubtful_.from, doubtful_.to, names_[doubtful_.column], -doubtful_.size,
                    doubtful_.rows > 1 ? fmt::format(" (so at {} rows)", doubtful_.rows) : ""));
  }
  return list;
}

}  // namespace kinegraph::task

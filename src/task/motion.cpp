#include "kinegraph/task/motion.hpp"

#include <algorithm>

namespace kinegraph::task {
namespace {

constexpr double kWorn = 0.8;     // coordinates are chosen again when their quality falls to this share
constexpr int kCheckEvery = 4;    // knots between two looks at it
constexpr double kTooNear = 0.3;  // share of one knot's progress within which a singular position is not resolved
constexpr int kMostWait = 8;      // knots between two looks at how far the next singular position is
constexpr int kWatched = 200;     // coordinates up to which singular positions are watched for
constexpr double kPosition = 1e-6, kVelocity = 1e-3;  // how willing to be pivoted, next to accelerations and forces
constexpr double kReluctant = 0.1;  // declared coordinates would rather be free columns of the elimination

}  // namespace

Motion::Motion(const Start& start, const build::NaturalOptions& options, int relative_coordinates, int capacity)
    : start_(start),
      options_(options),
      names_(build::natural_chain(start.system, options)),
      solver_(names_.chain, capacity),
      choice_(*start.system, relative_coordinates, start.mobility.redundant),
      independent_(options.independent) {
  solver_.exclude_rows(names_.redundant_rows, names_.redundant_middle_rows);
  // Constraints are pivoted on what they are about: Φ on q, Φ̇ on q̇, Φ̈ and the dynamics on q̈ and λ. What is left free
  // are positions and velocities, declared coordinates first.
  const int n = start.system->coordinates();
  for (int i = 0; i < n; ++i) {
    const double reluctant = i >= n - relative_coordinates ? kReluctant : 1;
    solver_.set_preference(names_.q, i, reluctant * kPosition);
    solver_.set_preference(names_.v, i, reluctant * kVelocity);
  }
  const bool free = names_.z >= 0 && !options.soft;
  for (int i = 0; free && i < static_cast<int>(independent_.size()); ++i) {
    solver_.set_preference(names_.z, i, 0);
    solver_.set_preference(names_.zd, i, 0);
  }
}

void Motion::set_known(int knot, double t) {
  *at(knot, names_.t) = t;
  const natural::System& system = *start_.system;
  for (int j = 0; options_.given.inputs && j < system.motors(); ++j) at(knot, names_.u)[j] = system.motor_law(j, t);
  for (std::size_t i = 0; names_.law >= 0 && i < options_.given.known_inputs.size(); ++i) {
    at(knot, names_.law)[i] = system.motor_law(options_.given.known_inputs[i], t);
  }
}

void Motion::begin(double t, const Eigen::VectorXd& q, const Eigen::VectorXd& v, const Eigen::VectorXd& a,
                   const Eigen::VectorXd& lambda) {
  solver_.reset();
  solver_.touch();
  solver_.advance();
  set_known(0, t);
  std::copy(q.begin(), q.end(), at(0, names_.q));
  std::copy(v.begin(), v.end(), at(0, names_.v));
  std::copy(a.begin(), a.end(), at(0, names_.a));
  std::copy(lambda.begin(), lambda.end(), at(0, names_.lambda));
  if (names_.free_a >= 0) std::copy(a.begin(), a.end(), at(0, names_.free_a));
  for (std::size_t i = 0; i < independent_.size() && names_.z >= 0; ++i) {
    at(0, names_.z)[i] = q[independent_[i]];
    at(0, names_.zd)[i] = v[independent_[i]];
    at(0, names_.zdd)[i] = a[independent_[i]];
  }
  margin_ = start_.system->coordinates() <= kWatched ? choice_.margin(q.data(), t) : 1;
  margin_rate_ = margin_wait_ = margin_age_ = 0;
  falling_ = false;
  if (names_.z >= 0) quality_ = choice_.quality(q.data(), t, independent_);
}

void Motion::resume(double t, const Eigen::VectorXd& q, const Eigen::VectorXd& v, const Eigen::VectorXd& a,
                    const Eigen::VectorXd& lambda) {
  const double quality = quality_, rate = margin_rate_;
  const bool falling = falling_;
  begin(t, q, v, a, lambda);
  quality_ = quality;
  margin_rate_ = rate;
  falling_ = falling;
  since_check_ = kCheckEvery;
}

// The second knot has no past to be extrapolated from: q and q̇ start on the parabola of the first.
void Motion::predict_from_first(double h) {
  const auto taylor = [&](int x, int rate, int acceleration, int size) {
    for (int i = 0; i < size; ++i) {
      const double v = at(0, rate)[i], a = at(0, acceleration)[i];
      at(1, x)[i] = at(0, x)[i] + h * v + 0.5 * h * h * a;
      at(1, rate)[i] = v + h * a;
    }
  };
  taylor(names_.q, names_.v, names_.a, start_.system->coordinates());
  if (names_.z >= 0) taylor(names_.z, names_.zd, names_.zdd, static_cast<int>(independent_.size()));
}

void Motion::advance(double t) {
  const double before = this->t(last());
  solver_.advance();
  set_known(last(), t);
  if (solver_.past() == 1 && options_.given.prescribed.empty()) predict_from_first(t - before);
  if (names_.mid_t < 0) return;
  const int interval = last() - 1;
  *middle(interval, names_.mid_t) = 0.5 * (before + t);
  for (int j = 0; j < start_.system->motors(); ++j) {
    middle(interval, names_.mid_u)[j] = start_.system->motor_law(j, 0.5 * (before + t));
  }
  if (solver_.past() > 1) return;  // the first middle has no past: it starts between the knots
  const int n = start_.system->coordinates(), m = start_.system->constraints();
  for (int i = 0; i < n; ++i) {
    middle(interval, names_.mid_q)[i] = 0.5 * (at(interval, names_.q)[i] + at(interval + 1, names_.q)[i]);
    middle(interval, names_.mid_v)[i] = 0.5 * (at(interval, names_.v)[i] + at(interval + 1, names_.v)[i]);
  }
  std::copy_n(at(interval, names_.a), n, middle(interval, names_.mid_a));
  std::copy_n(at(interval, names_.lambda), m, middle(interval, names_.mid_lambda));
  if (names_.mid_z < 0) return;
  const int f = static_cast<int>(independent_.size());
  std::copy_n(at(interval, names_.z), f, middle(interval, names_.mid_z));
  std::copy_n(at(interval, names_.zd), f, middle(interval, names_.mid_zd));
  std::copy_n(at(interval, names_.zdd), f, middle(interval, names_.mid_zdd));
}

ChainOutcome Motion::solve() {
  if (names_.z >= 0 && ++since_check_ >= kCheckEvery) {
    since_check_ = 0;
    if (choice_.quality(q(last()), t(last()), independent_) < kWorn * quality_) choose_coordinates_again();
  }
  watch_singularity();
  return solver_.solve();
}

// Where Φ_q loses rank, the velocity across the branch is known to ε/σ² and the acceleration to ε/σ³ (ε: rounding, σ:
// the smallest pivot). One knot may fall so near that nothing is left of them; there they stay as extrapolated, for the
// motion along the branch is smooth. σ is looked at as often as its rate of change asks for.
void Motion::watch_singularity() {
  if (start_.system->coordinates() > kWatched || start_.system->constraints() == 0) return;
  ++margin_age_;
  if (margin_wait_-- > 0) return;
  const double t = this->t(last()), before = margin_;
  margin_ = choice_.margin(q(last()), t);
  double nearest = margin_;
  const double rate = std::abs(margin_ - before) / margin_age_;
  margin_rate_ = std::max(rate, 0.7 * margin_rate_);
  margin_age_ = 0;
  margin_wait_ = std::min<int>(kMostWait, static_cast<int>(0.25 * margin_ / (margin_rate_ + 1e-6)));
  if (names_.mid_q >= 0 && margin_wait_ == 0) {
    nearest = std::min(nearest, choice_.margin(middle(last() - 1, names_.mid_q), t));
  }
  const bool falls = margin_ < before;
  singular_passes_ += falling_ && !falls && before < 3 * margin_rate_;
  falling_ = falls;
  solver_.relax(nearest < kTooNear * margin_rate_ ? kTooNear * margin_rate_ : 0);
}

// z changes its meaning: wherever it is kept (the window, the extrapolation's past) it is read from q again.
void Motion::choose_coordinates_again() {
  const auto& chosen = choice_.choose(q(last()), t(last()));
  if (chosen == independent_ || chosen.size() != independent_.size()) return;
  std::copy(chosen.begin(), chosen.end(), independent_.begin());
  quality_ = choice_.quality(q(last()), t(last()), independent_);
  ++coordinate_changes_;
  for (const auto& selector : names_.selectors) selector->select(independent_);
  solver_.restructure();

  const Chain& chain = *names_.chain;
  const auto reread = [&](double* values, int from, int to, auto offset) {
    for (std::size_t i = 0; i < independent_.size(); ++i) {
      values[(chain.*offset)(to) + i] = values[(chain.*offset)(from) + independent_[i]];
    }
  };
  const auto knot = [&](double* values) {
    reread(values, names_.q, names_.z, &Chain::knot_offset);
    reread(values, names_.v, names_.zd, &Chain::knot_offset);
    reread(values, names_.a, names_.zdd, &Chain::knot_offset);
  };
  const auto middle = [&](double* values) {
    reread(values, names_.mid_q, names_.mid_z, &Chain::middle_offset);
    reread(values, names_.mid_v, names_.mid_zd, &Chain::middle_offset);
    reread(values, names_.mid_a, names_.mid_zdd, &Chain::middle_offset);
  };
  for (int k = 0; k < solver_.knots(); ++k) knot(solver_.knot(k));
  for (int i = 0; i < solver_.past(); ++i) knot(solver_.past_knot(i));
  if (names_.mid_z < 0) return;
  for (int k = 0; k + 1 < solver_.knots(); ++k) middle(solver_.middle(k));
  for (int i = 0; i + 1 < solver_.past(); ++i) middle(solver_.past_middle(i));
}

std::string Motion::worst(const ChainOutcome& outcome) const {
  return outcome.worst_row >= 0 ? solver_.hard_row_name(outcome.worst_row) : "the middle of the step";
}

}  // namespace kinegraph::task

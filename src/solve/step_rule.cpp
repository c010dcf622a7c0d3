#include "kinegraph/solve/step_rule.hpp"

#include <algorithm>
#include <cmath>

namespace kinegraph {
namespace {

constexpr double kSufficient = 1e-4;  // a step is good if the merit falls by this share of what the model promised
constexpr double kSoftness = 0.01;    // κ of undamped steps

// ---- Gauss-Newton --------------------------------------------------------------------------------------------------
class GaussNewton final : public StepRule {
 public:
  Search::Outcome prepare(Search& search) override { return search.newton(0, kSoftness); }

  Result advance(Search& search, Eigen::VectorXd& step) override {
    const Eigen::VectorXd whole = search.step();
    Result result;
    for (double length = 1; length > 1e-12; length /= 2) {
      step = length * whole;
      const Attempt attempt = try_step(search, step);
      result.predicted = attempt.predicted;
      result.fall = attempt.fall;
      result.stretch = 1 / length;
      if (attempt.accepted) {
        result.accepted = true;
        return result;
      }
      if (attempt.predicted <= search.rounding()) break;
    }
    return result;
  }
};

// ---- Levenberg-Marquardt -------------------------------------------------------------------------------------------
// λ follows the ratio of what was found to what was promised (Nielsen 1999).
class LevenbergMarquardt final : public StepRule {
 public:
  explicit LevenbergMarquardt(double damping) : lambda_(damping) {}

  Search::Outcome prepare(Search& search) override {
    Search::Outcome outcome = compute(search);
    while (outcome == Search::Outcome::wrong_curvature && lambda_ < kMost) {
      raise();
      outcome = compute(search);
    }
    return outcome;
  }

  double stretch() const override { return 1 + lambda_; }

  Result advance(Search& search, Eigen::VectorXd& step) override {
    Result result;
    while (true) {
      step = search.step();
      const Attempt attempt = try_step(search, step);
      result.predicted = attempt.predicted;
      result.fall = attempt.fall;
      result.stretch = stretch();
      if (attempt.accepted) {
        const double t = 2 * std::min(attempt.ratio(), 1.0) - 1;
        lambda_ = std::max(lambda_ * std::max(0.1, 1 - t * t * t), kLeast);
        growth_ = 2;
        result.accepted = true;
        return result;
      }
      if (attempt.predicted <= search.rounding() || lambda_ >= kMost) return result;
      raise();
      if (prepare(search) != Search::Outcome::ok) return result;
    }
  }

 private:
  static constexpr double kLeast = 1e-14, kMost = 1e14;

  // The more damping, the less the linear model of the hard rows is trusted.
  Search::Outcome compute(Search& search) { return search.newton(lambda_, std::clamp(lambda_, 1e-4, 1.0)); }
  void raise() {
    lambda_ = std::max(lambda_ * growth_, 1e-8);
    growth_ *= 2;
  }

  double lambda_, growth_ = 2;
};

// ---- Dogleg --------------------------------------------------------------------------------------------------------
// Lengths are measured as ‖D^½ d‖.
class Dogleg final : public StepRule {
 public:
  Search::Outcome prepare(Search& search) override {
    Search::Outcome outcome = search.newton(lambda_, kSoftness);
    while (outcome == Search::Outcome::wrong_curvature && lambda_ < 1e4) {
      lambda_ = std::max(100 * lambda_, kLeast);
      outcome = search.newton(lambda_, kSoftness);
    }
    return outcome;
  }

  Result advance(Search& search, Eigen::VectorXd& step) override {
    const Eigen::VectorXd newton = search.step();
    const Eigen::VectorXd cauchy = cauchy_step(search);
    const double whole = length(search, newton);
    if (radius_ == 0) radius_ = whole;
    Result result;
    for (int tries = 0; tries < 100; ++tries) {
      step = within(search, cauchy, newton);
      const double size = length(search, step);
      const Attempt attempt = try_step(search, step);
      result.predicted = attempt.predicted;
      result.fall = attempt.fall;
      result.stretch = size > 0 ? std::max(1.0, whole / size) : 1;
      if (attempt.ratio() > 0.75) radius_ = std::max(radius_, 3 * size);
      if (attempt.ratio() < 0.25) radius_ = 0.25 * size;
      if (attempt.accepted) {
        result.accepted = true;
        break;
      }
      if (attempt.predicted <= search.rounding()) break;
    }
    // A Gauss-Newton step far beyond the region points along directions of no curvature: damp those.
    if (radius_ < 1e-2 * whole)
      lambda_ = std::max(10 * lambda_, kLeast);
    else
      lambda_ = lambda_ > kLeast ? lambda_ / 10 : 0;
    return result;
  }

 private:
  static double length(const Search& search, const Eigen::VectorXd& d) {
    return std::sqrt(search.damping_scale().dot(d.cwiseAbs2()));
  }

  // p = −D⁻¹ ∇φ, as far as the quadratic majorant falls along it.
  static Eigen::VectorXd cauchy_step(Search& search) {
    const Eigen::VectorXd gradient = search.merit_gradient();
    const Eigen::VectorXd p = -gradient.cwiseQuotient(search.damping_scale());
    const double curvature = search.majorant_curvature(p);
    return curvature > 0 ? Eigen::VectorXd(-gradient.dot(p) / curvature * p) : p;
  }

  Eigen::VectorXd within(const Search& search, const Eigen::VectorXd& cauchy, const Eigen::VectorXd& newton) const {
    if (length(search, newton) <= radius_) return newton;
    const double first = length(search, cauchy);
    if (first >= radius_) return radius_ / first * cauchy;
    // ‖cauchy + t (newton − cauchy)‖ = radius
    const Eigen::VectorXd leg = newton - cauchy;
    const double a = search.damping_scale().dot(leg.cwiseAbs2());
    const double b = search.damping_scale().dot(leg.cwiseProduct(cauchy));
    const double c = first * first - radius_ * radius_;
    const double t = -c / (b + std::sqrt(std::max(0.0, b * b - a * c)));
    return cauchy + t * leg;
  }

  static constexpr double kLeast = 1e-10;
  double radius_ = 0, lambda_ = 0;
};

}  // namespace

Attempt try_step(Search& search, Eigen::VectorXd& step) {
  Attempt result;
  result.predicted = search.predicted(step);
  const double noise = search.rounding();
  // Near the end the promise drowns in rounding: a step is then good if it does no harm.
  const auto good = [&](double fall) {
    return result.predicted > noise ? fall >= kSufficient * result.predicted : fall >= -noise;
  };
  result.fall = search.attempt(step);
  if (!good(result.fall)) {
    search.restore();
    Eigen::VectorXd corrected = step;
    if (!search.correct_for_curvature(corrected)) return result;
    const double fall = search.attempt(corrected);
    if (!good(fall)) {
      search.restore();
      return result;
    }
    result.fall = fall;
    step = corrected;
  }
  result.accepted = true;
  search.keep();
  return result;
}

std::unique_ptr<StepRule> StepRule::make(const OptimizerOptions& options) {
  switch (options.method) {
    case Method::gauss_newton:
      return std::make_unique<GaussNewton>();
    case Method::levenberg_marquardt:
      return std::make_unique<LevenbergMarquardt>(options.initial_damping);
    case Method::dogleg:
      return std::make_unique<Dogleg>();
  }
  return nullptr;
}

}  // namespace kinegraph

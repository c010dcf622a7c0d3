#include "kinegraph/build/natural_chain.hpp"

#include <cmath>

#include "kinegraph/factor/common/equal.hpp"
#include "kinegraph/factor/common/euler.hpp"
#include "kinegraph/factor/common/hermite_midpoint.hpp"
#include "kinegraph/factor/common/prescribed.hpp"
#include "kinegraph/factor/common/simpson.hpp"
#include "kinegraph/factor/common/trapezoidal.hpp"
#include "kinegraph/factor/natural/acceleration_constraint.hpp"
#include "kinegraph/factor/natural/dynamics.hpp"
#include "kinegraph/factor/natural/labels.hpp"
#include "kinegraph/factor/natural/position_constraint.hpp"
#include "kinegraph/factor/natural/velocity_constraint.hpp"

namespace kinegraph::build {
namespace {

Noise with_covariance(double covariance) { return Noise::isotropic(std::sqrt(covariance)); }

/// Puts one graph together: variables first, then the factors of a knot, then those of an interval.
class Builder {
 public:
  Builder(std::shared_ptr<const natural::System> system, const NaturalOptions& options)
      : system_(std::move(system)), options_(options), n_(system_->coordinates()), m_(system_->constraints()) {}

  NaturalChain build() {
    out_.system = system_;
    add_variables();
    add_knot_factors();
    if (options_.given.prescribed.empty()) add_links();
    out_.chain = chain_;
    return std::move(out_);
  }

 private:
  bool independent() const { return options_.formulation == Formulation::independent; }
  int variable(Kind kind, const char* name, int size, bool known = false) {
    return chain_->add_knot_variable({kind, name, size, known});
  }
  int middle(Kind kind, const char* name, int size, bool known = false) {
    return chain_->add_middle_variable({kind, name, size, known});
  }
  static ChainSlot from(int v) { return {Place::from, v}; }
  static ChainSlot mid(int v) { return {Place::middle, v}; }
  static ChainSlot to(int v) { return {Place::to, v}; }

  void add_variables() {
    const GivenMotion& given = options_.given;
    const int f = static_cast<int>(options_.independent.size()), c = static_cast<int>(given.prescribed.size());
    out_.t = variable(Kind::time, "t", 1, true);
    out_.u = variable(Kind::input, "u", system_->motors(), given.inputs);
    if (!given.inputs && !given.known_inputs.empty()) {
      out_.law = variable(Kind::user, "law", static_cast<int>(given.known_inputs.size()), true);
    }
    out_.q = variable(Kind::position, "q", n_);
    out_.v = variable(Kind::velocity, "v", n_);
    out_.a = variable(Kind::acceleration, "a", n_);
    out_.lambda = variable(Kind::multiplier, "lambda", m_);
    if (options_.soft && !independent()) out_.free_a = variable(Kind::acceleration, "a dynamics", n_);
    if (!options_.redundant.empty()) {
      zero_ = variable(Kind::user, "zero", static_cast<int>(options_.redundant.size()), true);
    }
    if (independent()) {
      out_.z = variable(Kind::independent_position, "z", f);
      out_.zd = variable(Kind::independent_velocity, "zd", f);
      out_.zdd = variable(Kind::independent_acceleration, "zdd", f);
    }
    if (c > 0) {
      out_.target = variable(Kind::user, "target", c, true);
      out_.target_rate = variable(Kind::user, "target rate", c, true);
      out_.target_acceleration = variable(Kind::user, "target acceleration", c, true);
    }
  }

  // The rows of a factor of the constraints that follow from others are left out of the elimination.
  void leave_out(std::vector<int>& rows, int& next, int factor_rows, bool constraint) {
    if (constraint) {
      for (int r : options_.redundant) rows.push_back(next + r);
    }
    next += factor_rows;
  }

  void knot(std::shared_ptr<const Factor> factor, std::vector<int> variables, bool hard, double covariance,
            bool constraint = false) {
    if (hard) leave_out(out_.redundant_rows, knot_rows_, factor->rows(), constraint);
    chain_->add_to_knot(std::move(factor), std::move(variables), hard ? Role::equality : Role::cost,
                        hard ? Noise::unit() : with_covariance(covariance));
  }

  std::shared_ptr<const Factor> select(std::vector<int> indices) {
    auto factor = std::make_shared<Select>(n_, std::move(indices), "independent", natural::labels(*system_));
    out_.selectors.push_back(factor);
    return factor;
  }

  void add_knot_factors() {
    const bool hard = !options_.soft;
    const SoftWeights& w = options_.weights;
    knot(std::make_shared<natural::PositionConstraint>(system_), {out_.q, out_.t}, hard, w.constraint, true);
    knot(std::make_shared<natural::VelocityConstraint>(system_), {out_.q, out_.v, out_.t}, hard, w.constraint, true);
    // In the paper's soft graph the acceleration is a variable of its own, near the one that the dynamics give (26).
    const int a = out_.free_a >= 0 ? out_.free_a : out_.a;
    knot(std::make_shared<natural::Dynamics>(system_), {out_.q, out_.v, a, out_.lambda, out_.u, out_.t}, true, 0);
    knot(std::make_shared<natural::AccelerationConstraint>(system_), {out_.q, out_.v, a, out_.lambda, out_.t}, true, 0,
         true);
    if (out_.free_a >= 0) {
      knot(std::make_shared<Equal>(n_, natural::labels(*system_)), {out_.free_a, out_.a}, false, w.dynamics);
    }
    if (zero_ >= 0) {
      knot(std::make_shared<Select>(m_, options_.redundant, "redundant multiplier"), {out_.lambda, zero_}, true, 0);
    }
    if (out_.law >= 0) {
      knot(std::make_shared<Select>(system_->motors(), options_.given.known_inputs, "law"), {out_.u, out_.law}, true,
           0);
    }
    if (independent()) {
      knot(select(options_.independent), {out_.q, out_.z}, hard, w.constraint);
      knot(select(options_.independent), {out_.v, out_.zd}, hard, w.constraint);
      knot(select(options_.independent), {out_.a, out_.zdd}, hard, w.dynamics);
    }
    if (!options_.given.prescribed.empty()) {
      const auto follow = prescribed(n_, options_.given.prescribed, natural::labels(*system_));
      knot(follow, {out_.q, out_.target}, true, 0);
      knot(follow, {out_.v, out_.target_rate}, true, 0);
      knot(follow, {out_.a, out_.target_acceleration}, true, 0);
    }
  }

  void link(std::shared_ptr<const Factor> factor, std::vector<ChainSlot> slots, bool hard, double covariance,
            bool constraint = false) {
    if (hard) leave_out(out_.redundant_middle_rows, middle_rows_, factor->rows(), constraint);
    const bool unit = hard || !options_.soft;
    chain_->add_to_link(std::move(factor), std::move(slots), hard ? Role::equality : Role::cost,
                        unit ? Noise::unit() : with_covariance(covariance));
  }

  void add_links() {
    const int x = independent() ? out_.z : out_.q, xd = independent() ? out_.zd : out_.v;
    const int xdd = independent() ? out_.zdd : out_.a;
    const int size = chain_->knot()[x].size;
    const double h = options_.step, covariance = options_.weights.integrator;
    switch (options_.integrator) {
      case Integrator::euler: {
        const auto rule = std::make_shared<Euler>(size, h);
        link(rule, {from(x), from(xd), to(x)}, false, covariance);
        link(rule, {from(xd), from(xdd), to(xd)}, false, covariance);
        break;
      }
      case Integrator::trapezoidal: {
        const auto rule = std::make_shared<Trapezoidal>(size, h);
        link(rule, {from(x), from(xd), to(x), to(xd)}, false, covariance);
        link(rule, {from(xd), from(xdd), to(xd), to(xdd)}, false, covariance);
        break;
      }
      case Integrator::hermite_simpson:
        add_hermite_simpson(x, xd, xdd, size);
        break;
    }
    // Keeps the dependent coordinates on their branch. The paper's plain equality qₖ₊₁ − qₖ brakes the motion (1e-4 m
    // over its 5 s run); with the motion taken out it does not.
    if (options_.soft && independent()) {
      link(std::make_shared<Trapezoidal>(n_, h), {from(out_.q), from(out_.v), to(out_.q), to(out_.v)}, false,
           options_.weights.equality);
    }
  }

  // The middle of the interval has a state of its own: on the Hermite cubic, with the acceleration that the dynamics
  // give there. In independent coordinates the cubic carries z and the mechanism is assembled around it.
  void add_hermite_simpson(int x, int xd, int xdd, int size) {
    const double h = options_.step;
    out_.mid_t = middle(Kind::time, "t", 1, true);
    out_.mid_u = middle(Kind::input, "u", system_->motors(), true);
    const int q = middle(Kind::position, "q", n_), v = middle(Kind::velocity, "v", n_);
    const int a = middle(Kind::acceleration, "a", n_), lambda = middle(Kind::multiplier, "lambda", m_);
    out_.mid_q = q, out_.mid_v = v, out_.mid_a = a, out_.mid_lambda = lambda;
    int mx = q, mxd = v, mxdd = a;
    if (independent()) {
      mx = middle(Kind::independent_position, "z", size);
      mxd = middle(Kind::independent_velocity, "zd", size);
      mxdd = middle(Kind::independent_acceleration, "zdd", size);
      out_.mid_z = mx, out_.mid_zd = mxd, out_.mid_zdd = mxdd;
    }
    const auto cubic = std::make_shared<HermiteMidpoint>(size, h);
    link(cubic, {from(x), from(xd), to(x), to(xd), mid(mx)}, true, 0);
    link(cubic, {from(xd), from(xdd), to(xd), to(xdd), mid(mxd)}, true, 0);
    if (independent()) {
      const ChainSlot t = mid(out_.mid_t);
      link(std::make_shared<natural::PositionConstraint>(system_), {mid(q), t}, true, 0, true);
      link(std::make_shared<natural::VelocityConstraint>(system_), {mid(q), mid(v), t}, true, 0, true);
      link(select(options_.independent), {mid(q), mid(mx)}, true, 0);
      link(select(options_.independent), {mid(v), mid(mxd)}, true, 0);
      link(select(options_.independent), {mid(a), mid(mxdd)}, true, 0);
    }
    const ChainSlot t = mid(out_.mid_t);
    link(std::make_shared<natural::Dynamics>(system_), {mid(q), mid(v), mid(a), mid(lambda), mid(out_.mid_u), t}, true,
         0);
    link(std::make_shared<natural::AccelerationConstraint>(system_), {mid(q), mid(v), mid(a), mid(lambda), t}, true, 0,
         true);
    if (zero_ >= 0) {
      link(std::make_shared<Select>(m_, options_.redundant, "redundant multiplier"), {mid(lambda), from(zero_)}, true,
           0);
    }
    const auto simpson = std::make_shared<Simpson>(size, h);
    link(simpson, {from(x), to(x), from(xd), mid(mxd), to(xd)}, false, options_.weights.integrator);
    link(simpson, {from(xd), to(xd), from(xdd), mid(mxdd), to(xdd)}, false, options_.weights.integrator);
  }

  std::shared_ptr<const natural::System> system_;
  const NaturalOptions& options_;
  int n_, m_, zero_ = -1, knot_rows_ = 0, middle_rows_ = 0;
  std::shared_ptr<Chain> chain_ = std::make_shared<Chain>();
  NaturalChain out_;
};

}  // namespace

NaturalChain natural_chain(std::shared_ptr<const natural::System> system, const NaturalOptions& options) {
  return Builder(std::move(system), options).build();
}

}  // namespace kinegraph::build

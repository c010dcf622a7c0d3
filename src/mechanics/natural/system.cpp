#include "kinegraph/mechanics/natural/system.hpp"

#include <algorithm>
#include <type_traits>

#include "kinegraph/mechanics/natural/implementation.hpp"

namespace kinegraph::natural {

System::System(const Model& model) : self_(assemble(model)) {}

int System::coordinates() const { return self_->n; }
int System::constraints() const { return static_cast<int>(self_->constraint_names.size()); }
int System::motors() const { return static_cast<int>(self_->motor_coordinate.size()); }
const std::string& System::coordinate_name(int i) const { return self_->coordinate_names[i]; }
const std::string& System::constraint_name(int i) const { return self_->constraint_names[i]; }
double System::typical_length() const { return self_->typical_length; }
Eigen::VectorXd System::guess() const { return self_->guess; }
std::span<const Entry> System::jacobian_pattern() const { return self_->jacobian; }
std::span<const Entry> System::hessian_pattern() const { return self_->hessian; }
std::span<const Entry> System::mass_pattern() const { return self_->mass; }
std::span<const double> System::mass_values() const { return self_->mass_values; }
std::span<const Entry> System::force_pattern() const { return self_->force; }
std::span<const Entry> System::stiffness_pattern() const { return self_->stiffness; }
std::span<const int> System::motor_coordinate() const { return self_->motor_coordinate; }
double System::motor_law(int motor, double t) const { return self_->motor_law[motor](t); }

int System::index_of(const CoordinateRef& c) const {
  if (c.what == CoordinateRef::What::relative) return self_->first_relative + c.index;
  const int first = self_->point_index[c.index];
  return first < 0 ? -1 : first + (c.what == CoordinateRef::What::point_y);
}

// In the three levels below Φ is evaluated unconditionally: the compiler then shares the sine and cosine of an angle
// with the gradient.
void System::position(const double* q, double t, double* phi, double* phi_q) const {
  for_each(self_->constraints, [=](const auto& c) {
    const auto x = read(c.operands, PositionReader{q});
    const auto value = c.equation.phi(x, t);
    if (phi) phi[c.row] = value;
    if (!phi_q) return;
    const auto g = c.equation.gradient(x);
    c.write_row(phi_q, [&g](int k) { return g[k]; });
  });
}

void System::velocity(const double* q, const double* v, double t, double* rate, double* rate_q, double* rate_v) const {
  for_each(self_->constraints, [=](const auto& c) {
    const auto x = read(c.operands, Taylor1Reader{q, v});
    const auto value = c.equation.phi(x, t);
    if (rate) rate[c.row] = value.d;
    if (!rate_q && !rate_v) return;
    const auto g = c.equation.gradient(x);
    if (rate_q) c.write_row(rate_q, [&g](int k) { return g[k].d; });
    if (rate_v) c.write_row(rate_v, [&g](int k) { return g[k].x; });
  });
}

void System::acceleration(const double* q, const double* v, const double* a, double t, double* acc, double* acc_q,
                          double* acc_v, double* acc_a) const {
  for_each(self_->constraints, [=](const auto& c) {
    const auto x = read(c.operands, Taylor2Reader{q, v, a});
    const auto value = c.equation.phi(x, t);
    if (acc) acc[c.row] = value.dd;
    if (!acc_q && !acc_v && !acc_a) return;
    const auto g = c.equation.gradient(x);
    if (acc_q) c.write_row(acc_q, [&g](int k) { return g[k].dd; });
    if (acc_v) c.write_row(acc_v, [&g](int k) { return 2 * g[k].d; });
    if (acc_a) c.write_row(acc_a, [&g](int k) { return g[k].x; });
  });
}

void System::bias(const double* q, const double* v, double t, double* acc, double* phi_q) const {
  for_each(self_->constraints, [=](const auto& c) {
    acc[c.row] = c.equation.phi(read(c.operands, UniformReader{q, v}), t).dd;
    const auto g = c.equation.gradient(read(c.operands, PositionReader{q}));
    c.write_row(phi_q, [&g](int k) { return g[k]; });
  });
}

void System::closure(const double* q, const double* v, double t, double* phi, double* rate) const {
  for_each(self_->constraints, [=](const auto& c) {
    const auto value = c.equation.phi(read(c.operands, Taylor1Reader{q, v}), t);
    phi[c.row] = value.x;
    rate[c.row] = value.d;
  });
}

void System::hessian(const double* q, double /*t*/, const double* lambda, double* values) const {
  std::fill_n(values, self_->hessian.size(), 0.0);
  for_each(self_->constraints, [=](const auto& c) {
    if constexpr (!std::remove_cvref_t<decltype(c.equation)>::kHessian.empty())
      c.add_hessian(c.hessian, read(c.operands, PositionReader{q}), lambda[c.row], values);
  });
}

void System::force(const double* q, const double* v, double t, double* Q, double* Q_q, double* Q_v) const {
  if (Q) std::copy_n(self_->constant_force.data(), self_->n, Q);
  if (Q_q) std::fill_n(Q_q, self_->force.size(), 0.0);
  if (Q_v) std::fill_n(Q_v, self_->force.size(), 0.0);
  for_each(self_->forces, [=](const auto& f) {
    const auto x = read(f.operands, PositionReader{q});
    const auto xd = read(f.operands, RateReader{v});
    if (Q) {
      const auto local = f.equation.force(x, xd, t);
      for (std::size_t k = 0; k < local.size(); ++k)
        if (f.operands[k].moves()) Q[f.operands[k].index] += local[k];
    }
    if (Q_q) f.add(f.places, f.equation.by_position(x, xd, t), 1.0, Q_q);
    if (Q_v) f.add(f.places, f.equation.by_velocity(x, xd, t), 1.0, Q_v);
  });
}

void System::motion(const double* q, const double* v, const double* a, const double* lambda, const double* u, double t,
                    double* r, double* r_q, double* r_v, double* phi_q) const {
  const Implementation& s = *self_;
  for (int i = 0; i < s.n; ++i) r[i] = -s.constant_force[i];
  for (std::size_t k = 0; k < s.mass.size(); ++k) r[s.mass[k].row] += s.mass_values[k] * a[s.mass[k].column];
  for (std::size_t j = 0; j < s.motor_coordinate.size(); ++j) r[s.motor_coordinate[j]] -= u[j];
  if (r_q) std::fill_n(r_q, s.stiffness.size(), 0.0);
  if (r_v) std::fill_n(r_v, s.force.size(), 0.0);

  for_each(s.constraints, [=](const auto& c) {
    const auto x = read(c.operands, PositionReader{q});
    const auto g = c.equation.gradient(x);
    const double force = lambda[c.row];
    for (std::size_t k = 0; k < g.size(); ++k)
      if (c.operands[k].moves()) r[c.operands[k].index] += force * g[k];
    if (phi_q) c.write_row(phi_q, [&g](int k) { return g[k]; });
    if constexpr (!std::remove_cvref_t<decltype(c.equation)>::kHessian.empty())
      if (r_q) c.add_hessian(c.stiffness, x, force, r_q);
  });
  for_each(s.forces, [=](const auto& f) {
    const auto x = read(f.operands, PositionReader{q});
    const auto xd = read(f.operands, RateReader{v});
    const auto local = f.equation.force(x, xd, t);
    for (std::size_t k = 0; k < local.size(); ++k)
      if (f.operands[k].moves()) r[f.operands[k].index] -= local[k];
    if (r_q) f.add(f.stiffness, f.equation.by_position(x, xd, t), -1.0, r_q);
    if (r_v) f.add(f.places, f.equation.by_velocity(x, xd, t), -1.0, r_v);
  });
}

// ∂Φ/∂θ is −|i j| (times |k l|) at the angle itself and positive half a turn away.
bool System::proper(const double* q) const {
  const auto forward = [&](const auto& list) {
    return std::all_of(list.begin(), list.end(), [&](const auto& c) {
      return c.equation.gradient(read(c.operands, PositionReader{q})).back() < 0;
    });
  };
  return forward(std::get<std::vector<PlacedConstraint<AbsoluteAngle>>>(self_->constraints)) &&
         forward(std::get<std::vector<PlacedConstraint<RelativeAngle>>>(self_->constraints));
}

double System::kinetic_energy(const double* v) const {
  double twice = 0;
  for (std::size_t k = 0; k < self_->mass.size(); ++k)
    twice += self_->mass_values[k] * v[self_->mass[k].row] * v[self_->mass[k].column];
  return 0.5 * twice;
}

double System::potential_energy(const double* q) const {
  double energy = self_->fixed_potential;
  for (int i = 0; i < self_->n; ++i) energy -= self_->weight[i] * q[i];
  for_each(self_->forces, [&](const auto& f) { energy += f.equation.potential(read(f.operands, PositionReader{q})); });
  return energy;
}

}  // namespace kinegraph::natural

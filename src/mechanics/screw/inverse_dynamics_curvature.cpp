#include <cmath>

#include "kinegraph/mechanics/screw/inverse_dynamics.hpp"
#include "kinegraph/mechanics/screw/joint_derivatives.hpp"

// The second derivatives of L = Σ wᵢ τᵢ. With U = Σ J w, which is to w what V is to v, each body adds U·(Y A + V ×* Y
// V), and the sums over all that hangs on a joint,
//
//     F = Σ Y A + V ×* Y V − f,     P = Σ Y U,     R = Σ Bᵀ U,     k = Σ f × s      (s: how U moves the point of f)
//
// give the first ones, with the names of inverse_dynamics.cpp and U_q = U_P × J:
//
//     ∂L/∂q = U_q·F + A_q·P + V_q·R + ω·k,       ∂L/∂v = A_v·P + J·R,       ∂L/∂a = J·P,       ∂L/∂f = −s
//
// A displacement along a joint beyond changes none of J, U_q, V_q, A_q, A_v, but the sums: what hangs on it is carried,
// and V, A, U are changed as seen from there. R is linear in V with the matrix C = Σ (Y U × − U ×* Y + · ×* Y U), so
// that
//
//     F_q, F_v as there,     P_q = J ×* P + Y U_q,     R_q = J ×* R + C V_q + Bᵀ U_q,     R_v = C J,
//     k_q = N ω + Kᵀ U_q,  N = −Σ f^ s^
//
// An axis of the same joint turns with the displacement; seen from the mean of both orders, as on a group second
// derivatives are, that leaves nothing in ∂²L/∂q², but it does elsewhere.

namespace kinegraph::screw {

void InverseDynamics::fill_bends(const double* const* forces, const double* weight) {
  for (std::size_t i = 0; i < places_.size(); ++i) {
    const Place& place = places_[i];
    Bend& bend = bends_[i];
    const int parent = tree_->bodies()[i].parent;
    bend.U = parent < 0 ? Vector6d::Zero() : bends_[parent].U;
    for (int c = place.first; c < place.first + place.count; ++c) bend.U += columns_[c].J * weight[columns_[c].row];
    bend.P.noalias() = place.Y * bend.U;
    bend.R.noalias() = place.B.transpose() * bend.U;
    Matrix6d turned;
    turned.noalias() = place.Y * ad(bend.U);
    bend.C = turned + turned.transpose() + cross_wrench_by_twist(bend.P);
    if (place.loaded) bend.k.setZero(), bend.N.setZero();
  }
  for (std::size_t c = 0; c < points_.size(); ++c) {
    Bend& bend = bends_[points_[c].body];
    const Eigen::Vector3d f = Eigen::Map<const Eigen::Vector3d>(forces[c]);
    moved_[c] = bend.U.tail<3>() + bend.U.head<3>().cross(at_[c]);
    bend.k += f.cross(moved_[c]);
    bend.N -= skew<double>(f) * skew<double>(moved_[c]);
  }
  for (int i = static_cast<int>(places_.size()) - 1; i >= 0; --i) {
    const int parent = tree_->bodies()[i].parent;
    if (parent < 0) continue;
    bends_[parent].P += bends_[i].P;
    bends_[parent].R += bends_[i].R;
    bends_[parent].C += bends_[i].C;
    if (places_[i].loaded) bends_[parent].k += bends_[i].k, bends_[parent].N += bends_[i].N;
  }
}

void InverseDynamics::fill_column_bends() {
  for (std::size_t i = 0; i < places_.size(); ++i) {
    const Place& place = places_[i];
    const Bend& bend = bends_[i];
    const int parent = tree_->bodies()[i].parent;
    for (int c = place.first; c < place.first + place.count; ++c) {
      const Column& column = columns_[c];
      ColumnBend& by = column_bends_[c];
      by.P_q = cross_wrench<double>(column.J, bend.P);
      by.R_q = cross_wrench<double>(column.J, bend.R);
      by.CJ.noalias() = bend.C * column.J;
      by.k_q.noalias() = bend.N * column.J.head<3>();
      by.U_q.setZero();
      if (parent < 0) continue;
      by.U_q = cross_twist<double>(bends_[parent].U, column.J);
      by.P_q.noalias() += place.Y * by.U_q;
      by.R_q.noalias() += bend.C * column.V_q;
      by.R_q.noalias() += place.B.transpose() * by.U_q;
      if (place.loaded) by.k_q.noalias() += place.K.transpose() * by.U_q;
    }
  }
}

/// −s of every point along q.
void InverseDynamics::add_force_bends(StateHessian& to, int first_force) const {
  for (std::size_t c = 0; c < points_.size(); ++c) {
    for (int i = points_[c].body; i >= 0; i = tree_->bodies()[i].parent) {
      for (int k = places_[i].first; k < places_[i].first + places_[i].count; ++k) {
        const Vector6d& U_q = column_bends_[k].U_q;
        const Eigen::Vector3d change =
            columns_[k].J.head<3>().cross(moved_[c]) + U_q.tail<3>() + U_q.head<3>().cross(at_[c]);
        for (int d = 0; d < 3; ++d) to.add_at(columns_[k].row, first_force + 3 * static_cast<int>(c) + d, -change[d]);
      }
    }
  }
}

/// Freedoms of one joint.
void InverseDynamics::add_joint_bends(StateHessian& to, int body) const {
  const Place& place = places_[body];
  const Bend& bend = bends_[body];
  const int parent = tree_->bodies()[body].parent;
  const Vector6d both = parent < 0 ? place.V : Vector6d(place.V + places_[parent].V);
  for (int f = place.first; f < place.first + place.count; ++f) {
    const Column& far = columns_[f];
    const ColumnBend& by = column_bends_[f];
    const Vector6d rate = cross_twist<double>(far.J, place.V) + far.V_q;
    for (int o = place.first; o < place.first + place.count; ++o) {
      const Column& near = columns_[o];
      const double share = o == f ? 1 : 0.5;  // comes twice
      const Vector6d turn = cross_twist<double>(far.J, near.J);
      const Vector6d A_v = cross_twist<double>(rate, near.J) + cross_twist<double>(both, turn);
      to.add(StateHessian::q, near.row, StateHessian::q, far.row, share * bent(o, f));
      to.add(StateHessian::v, near.row, StateHessian::v, far.row, share * (turn.dot(bend.P) + near.J.dot(by.CJ)));
      to.add(StateHessian::v, near.row, StateHessian::q, far.row,
             A_v.dot(bend.P) + turn.dot(bend.R) + near.A_v.dot(by.P_q) + near.J.dot(by.R_q));
      to.add(StateHessian::a, near.row, StateHessian::q, far.row, turn.dot(bend.P) + near.J.dot(by.P_q));
    }
  }
}

/// ∂/∂q of the one freedom's ∂L/∂q along the other, which is as far out or farther.
double InverseDynamics::bent(int near, int far) const {
  const Column& column = columns_[near];
  const ColumnBend& by = column_bends_[far];
  return column_bends_[near].U_q.dot(columns_[far].F_q) + column.A_q.dot(by.P_q) + column.V_q.dot(by.R_q) +
         column.J.head<3>().dot(by.k_q);
}

/// A freedom of a joint, and one of a joint beyond it.
void InverseDynamics::add_pair_bends(StateHessian& to, int o, int f) const {
  const Column &near = columns_[o], &far = columns_[f];
  const Vector6d& U_q = column_bends_[o].U_q;
  const ColumnBend& by = column_bends_[f];
  to.add_both(StateHessian::q, near.row, far.row, bent(o, f));
  to.add_both(StateHessian::v, near.row, far.row, near.J.dot(by.CJ));
  to.add(StateHessian::v, near.row, StateHessian::q, far.row, near.A_v.dot(by.P_q) + near.J.dot(by.R_q));
  to.add(StateHessian::a, near.row, StateHessian::q, far.row, near.J.dot(by.P_q));
  to.add(StateHessian::q, near.row, StateHessian::v, far.row, U_q.dot(far.F_v) + near.V_q.dot(by.CJ));
  to.add(StateHessian::q, near.row, StateHessian::a, far.row, U_q.dot(far.YJ));
}

void InverseDynamics::add_curvature(const double* q, const double* v, const double* a, const double* const* forces,
                                    const double* weight, double* hessian, int size, int first_force) {
  bends_.resize(places_.size());
  column_bends_.resize(columns_.size());
  moved_.resize(points_.size());
  torque_.assign(tree_->freedoms(), 0.0);
  outward(q, v, a, true);
  add_forces(forces, true);
  fill_bends(forces, weight);
  inward(torque_.data(), true);
  fill_columns();
  fill_column_bends();

  StateHessian to(hessian, size, tree_->freedoms());
  for (int i = 0; i < static_cast<int>(places_.size()); ++i) {
    add_joint_bends(to, i);
    for (int f = places_[i].first; f < places_[i].first + places_[i].count; ++f) {
      for (int j = tree_->bodies()[i].parent; j >= 0; j = tree_->bodies()[j].parent) {
        for (int o = places_[j].first; o < places_[j].first + places_[j].count; ++o) add_pair_bends(to, o, f);
      }
    }
  }
  add_force_bends(to, first_force);
  for (const Coordinate& c : tree_->coordinates()) {
    for (int k = 0; k < c.freedoms; ++k) {
      // μ tanh(v/v₀):  its rate of the rate
      const double rate = friction_rate(c.dynamics[k], v[c.v + k], friction_speed_);
      const double bend = -2 * std::tanh(v[c.v + k] / friction_speed_) / friction_speed_ * rate;
      if (rate != 0) to.add(StateHessian::v, c.v + k, StateHessian::v, c.v + k, weight[c.v + k] * bend);
    }
  }
}

}  // namespace kinegraph::screw

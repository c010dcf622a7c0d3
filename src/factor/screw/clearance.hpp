#pragma once

#include <memory>
#include <string>
#include <vector>

#include "kinegraph/factor/screw/frame_goal.hpp"
#include "kinegraph/mechanics/screw/separation.hpp"

namespace kinegraph::screw {

/// A solid and the body that carries it; −1: it stands in the world.
struct CarriedSolid {
  int body = -1;
  Solid solid;
};

/// Two solids keep a distance, as an inequality.     g = d(q) − margin ≥ 0      (003, section V: collision)      Slots:
/// q.
class Clearance final : public Factor {
 public:
  Clearance(const std::string& pair, const std::shared_ptr<const Tree>& tree, const CarriedSolid& a,
            const CarriedSolid& b, double margin)
      : Factor("clearance " + pair, 1, StateSizes(StateSlots(*tree), 1).stored,
               dense(1, StateSizes(StateSlots(*tree), 1).tangent)),
        state_(*tree),
        a_(a),
        b_(b),
        margin_(margin),
        pool_([tree, a, b] { return std::make_unique<Work>(tree, a.body, b.body); }) {}

  void evaluate(Slots x, double* residual, double* jacobian) const override {
    const auto work = pool_.borrow();
    work->a.set(state_, x, 1);
    work->b.set(state_, x, 1);
    const Separation s = separation(a_.solid, work->a.chain.pose(), b_.solid, work->b.chain.pose(), true);
    residual[0] = s.distance - margin_;
    if (!jacobian) return;
    std::fill_n(jacobian, state_.freedoms(), 0.0);
    const auto add = [&](const ChainMotion& chain, const Eigen::Vector3d& p, const Eigen::Vector3d& along) {
      for (const ChainMotion::Column& column : chain.columns()) {
        jacobian[column.freedom] += along.dot(column.J.tail<3>() + column.J.head<3>().cross(p));
      }
    };
    add(work->a.chain, s.on_a, -s.normal);
    add(work->b.chain, s.on_b, s.normal);
  }
  /// Left out: −z ∇²d bends every step away from a minimum, the more the nearer, and jumps where the nearest feature
  /// changes.
  bool add_curvature(Slots, const double*, double*) const override { return true; }
  std::string row_name(int) const override { return name(); }

 private:
  struct Work {
    Work(const std::shared_ptr<const Tree>& tree, int body_a, int body_b) : a(tree, body_a), b(tree, body_b) {}
    ChainWork a, b;
  };
  StateSlots state_;
  CarriedSolid a_, b_;
  double margin_;
  Pool<Work> pool_;
};

}  // namespace kinegraph::screw

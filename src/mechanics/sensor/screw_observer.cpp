#include "kinegraph/mechanics/screw/joint_derivatives.hpp"
#include "kinegraph/mechanics/screw/joint_motion.hpp"
#include "kinegraph/mechanics/screw/motion.hpp"
#include "kinegraph/mechanics/sensor/placed_view.hpp"

namespace kinegraph::sensor {
namespace {

using screw::Body;
using screw::Tree;
using screw::Vector6d;

/// A robot, or a planar machine as one.
class ScrewMachine {
 public:
  ScrewMachine(const Model& model, std::shared_ptr<const Tree> tree)
      : tree_(std::move(tree)),
        planar_(!model.spatial()),
        places_(screw_places(model, *tree_)),
        chains_(tree_->bodies().size()) {
    for (const ScrewPlace& place : places_) {
      add_chain(place.on);
      add_chain(place.other);
      add_chain(place.cell);
      for (const WrenchTerm& term : place.wrenches) add_chain(term.body);
      for (int k = 0; place.line && k < place.line->points; ++k) add_chain(place.line->body[k]);
    }
  }

  // not inlined: once per scalar, not once per type of sensor
  template <class T>
  [[gnu::noinline]] View<T> view(const Instant& instant, int sensor, const Needs& needs, int first) const {
    const ScrewPlace& place = places_[sensor];
    View<T> see(planar_, tree_->gravity(), place.mounting);
    if (needs.on != Level::none) see.on = body<T>(instant, place.on, needs.on, first);
    if (needs.other != Level::none) see.other = body<T>(instant, place.other, needs.other, first);
    if (place.line) {
      const auto state = [&](int index, Level level) { return body<T>(instant, index, level, first); };
      if (needs.coordinate || needs.rate) measure(*place.line, needs.rate, state, see);
    } else if (place.q >= 0) {
      if (needs.coordinate) see.coordinate = coordinate<T>(instant, place, first);
      if (needs.rate) see.rate = place.ratio * seeded<T>(instant.v, instant.dv, place.v, first);
      if (needs.torque) see.torque = seeded<T>(instant.tau, instant.dtau, place.v, first);
    }
    const auto axes = [&](int index) -> Matrix3<T> { return frame<T>(instant, index, Level::position, first).X.R; };
    if (needs.reaction) add_wrenches(instant, place, first, axes, see);
    return see;
  }

 private:
  void add_chain(int body) {
    if (body < 0 || !chains_[body].empty()) return;
    for (int i = body; i >= 0; i = tree_->bodies()[i].parent) chains_[body].push_back(i);
    std::reverse(chains_[body].begin(), chains_[body].end());
  }

  /// A stored number of a coordinate, whose change is told along the freedoms: through the retraction if it is one of a
  /// quaternion.
  template <class T>
  T coordinate(const Instant& instant, const ScrewPlace& place, int first) const {
    T q[7];
    coordinates(tree_->coordinates()[place.coordinate], instant, first, q);
    return place.ratio * q[place.q] + place.offset;
  }

  template <class T>
  void coordinates(const screw::Coordinate& c, const Instant& instant, int first, T* q) const {
    const bool plain = c.stored == c.freedoms;
    for (int k = 0; k < c.stored; ++k)
      q[k] = plain ? seeded<T>(instant.q[c.q + k], instant.dq, c.v + k, first) : T(instant.q[c.q + k]);
    if (plain || kDirections<T> == 0) return;
    T delta[6];
    for (int k = 0; k < c.freedoms; ++k) delta[k] = seeded<T>(0.0, instant.dq, c.v + k, first);
    screw::visit_joint(c.type, [&](auto kind) { decltype(kind)::template retract<T>(q, delta, q); });
  }

  /// The numbers of the coordinate of a joint, up to a level; above it zero.
  struct Numbers {
    double q[7], v[6] = {}, a[6] = {};
  };
  static Numbers numbers(const screw::Coordinate& c, const Instant& instant, Level level) {
    Numbers n;
    for (int k = 0; k < c.stored; ++k) n.q[k] = instant.q[c.q + k];
    for (int k = 0; k < c.freedoms; ++k) {
      if (level >= Level::velocity) n.v[k] = instant.v[c.v + k];
      if (level >= Level::acceleration) n.a[k] = instant.a[c.v + k];
    }
    return n;
  }

  /// The motion of a body, from the ground outward along its chain. Its changes are not carried through all transforms
  /// as duals but summed joint by joint, as twists seen from the world: many times cheaper.
  template <class T>
  screw::FrameMotion<T> frame(const Instant& instant, int index, Level level, int first) const {
    constexpr int N = kDirections<T>;
    screw::FrameMotion<double> motion;
    screw::FrameVariation<std::max(N, 1)> variation;
    for (std::size_t k = 0; index >= 0 && k < chains_[index].size(); ++k) {
      const Body& body = tree_->bodies()[chains_[index][k]];
      const Numbers n = numbers(tree_->coordinates()[body.joint.coordinate], instant, level);
      const auto joint = screw::joint_motion<double>(body.joint, n.q, n.v, n.a);
      const screw::FrameMotion<double> next = motion.next(body.X_PF * joint.X, joint);
      if constexpr (N > 0) vary(body.joint, n, joint, next, instant, level, first, variation);
      motion = next;
    }
    if constexpr (N > 0) {
      const Vector6d V = motion.X.twist(motion.V);
      for (int j = 0; level >= Level::acceleration && j < N; ++j)
        variation.A.col(j) += screw::cross_twist<double>(variation.V.col(j), V);
      return variation.with(motion);
    } else {
      return motion;
    }
  }

  /// Adds what one joint contributes. With s = S δq and y_P = Ad(X_PB)⁻¹ of the parent's, seen from the body,
  ///
  ///     δV = ad(V_P) s + δ(S θ̇),      δV̇ = ad(V̇_P) s + δ(S θ̈ + Ṡ θ̇) + ad(V) δ(S θ̇) + ad(δV) S θ̇
  ///
  /// and each body i further out adds ad(δV) Sᵢ θ̇ᵢ to δV̇: in all ad(δV) (V_end − V), whose first part frame() adds.
  template <int N>
  void vary(const screw::ScrewJoint& joint, const Numbers& n, const screw::JointMotion<double>& its,
            const screw::FrameMotion<double>& body, const Instant& instant, Level level, int first,
            screw::FrameVariation<N>& sum) const {
    using screw::cross_twist;
    const int count = std::min(N, instant.directions() - first);
    Eigen::Matrix<double, 6, 6> S;
    screw::joint_transform(joint, instant.q.data(), &S);
    const bool moving = level >= Level::velocity, accelerating = level >= Level::acceleration;
    const bool steady =
        !joint.reversed && screw::visit_joint(joint.type, [](auto kind) { return decltype(kind)::kConstant; });
    screw::SubspaceDerivative by_v, by_a;
    screw::JointBias bias;
    if (!steady && moving) by_v = screw::subspace_derivative(joint, n.q, n.v);
    if (!steady && accelerating)
      by_a = screw::subspace_derivative(joint, n.q, n.a), bias = screw::joint_bias(joint, n.q, n.v);
    const Vector6d V_P = body.V - its.twist, A_P = body.A - its.change - cross_twist<double>(body.V, its.twist);
    const auto add = [&](const Vector6d& x, const Eigen::MatrixXd& d, int row, auto& to) {
      const Vector6d seen = body.X.twist(x);
      for (int j = 0; j < count; ++j) to.col(j) += seen * d(row, first + j);
    };
    // ad(V) δ(S θ̇) + ad(δV) S θ̇ − ad(δV) V, the last for the sum over the bodies further out
    const auto coupled = [&](const Vector6d& V, const Vector6d& twist) -> Vector6d {
      return cross_twist<double>(body.V, twist) - cross_twist<double>(V, V_P);
    };
    for (int k = 0; k < joint.freedoms; ++k) {
      const Vector6d s = S.col(k);
      add(s, instant.dq, joint.v + k, sum.pose);
      if (!moving) continue;
      const Vector6d twist = steady ? Vector6d::Zero() : Vector6d(by_v.col(k));
      const Vector6d V = cross_twist<double>(V_P, s) + twist;
      add(V, instant.dq, joint.v + k, sum.V);
      add(s, instant.dv, joint.v + k, sum.V);
      if (!accelerating) continue;
      const Vector6d A = cross_twist<double>(A_P, s) + coupled(V, twist);
      add(steady ? A : Vector6d(A + by_a.col(k) + bias.by_q.col(k)), instant.dq, joint.v + k, sum.A);
      add(steady ? coupled(s, s) : Vector6d(coupled(s, s) + bias.by_v.col(k)), instant.dv, joint.v + k, sum.A);
      add(s, instant.da, joint.v + k, sum.A);
    }
  }

  /// In world axes:   ω = R ω_B,   v = R v_B,   α = R ω̇_B,   a = R (v̇_B + ω_B × v_B)
  template <class T>
  BodyState<T> body(const Instant& instant, int index, Level level, int first) const {
    const screw::FrameMotion<T> m = frame<T>(instant, index, level, first);
    BodyState<T> state;
    state.R = m.X.R;
    state.p = m.X.p;
    if (level < Level::velocity) return state;
    const Vector3<T> omega = m.V.template head<3>(), v = m.V.template tail<3>();
    state.omega = m.X.R * omega;
    state.v = m.X.R * v;
    if (level < Level::acceleration) return state;
    state.alpha = m.X.R * m.A.template head<3>();
    state.a = m.X.R * (m.A.template tail<3>() + omega.cross(v));
    return state;
  }

  std::shared_ptr<const Tree> tree_;
  bool planar_;
  std::vector<ScrewPlace> places_;
  std::vector<std::vector<int>> chains_;  ///< per body that a sensor looks at: from the ground to it
};

}  // namespace

std::unique_ptr<Observer> make_observer(const Model& model, std::shared_ptr<const Tree> tree) {
  return std::make_unique<MachineObserver<ScrewMachine>>(model, std::move(tree));
}

}  // namespace kinegraph::sensor

#include "kinegraph/mechanics/maximal/balance.hpp"
#include "kinegraph/mechanics/sensor/placed_view.hpp"

namespace kinegraph::sensor {
namespace {

using maximal::BodyNumbers;
using maximal::JointNumbers;
using maximal::Mechanism;

/// A robot, or a planar machine as one, whose bodies move on their own.
class MaximalMachine {
 public:
  MaximalMachine(const Model& model, std::shared_ptr<const Mechanism> mechanism)
      : mechanism_(std::move(mechanism)),
        planar_(!model.spatial()),
        places_(screw_places(model, mechanism_->tree())),
        joint_of_(mechanism_->tree().coordinates().size(), -1) {
    for (std::size_t j = 0; j < mechanism_->joints().size(); ++j) {
      const int coordinate = mechanism_->joints()[j].coordinate;
      if (coordinate >= 0) joint_of_[coordinate] = static_cast<int>(j);
    }
  }

  // not inlined: once per scalar, not once per type of sensor
  template <class T>
  [[gnu::noinline]] View<T> view(const Instant& instant, int sensor, const Needs& needs, int first) const {
    const ScrewPlace& place = places_[sensor];
    View<T> see(planar_, mechanism_->tree().gravity(), place.mounting);
    const auto state = [&](int index, Level level) { return body<T>(instant, index, level, first); };
    const auto axes = [&](int index) -> Matrix3<T> { return pose<T>(instant, index, first).R; };
    if (needs.on != Level::none) see.on = state(place.on, needs.on);
    if (needs.other != Level::none) see.other = state(place.other, needs.other);
    if (place.line) {
      if (needs.coordinate || needs.rate) measure(*place.line, needs.rate, state, see);
    } else if (place.q >= 0) {
      if (needs.coordinate || needs.rate) see_joint(instant, place, first, see);
      if (needs.torque) see.torque = seeded<T>(instant.tau, instant.dtau, place.v, first);
    }
    if (needs.reaction) add_wrenches(instant, place, first, axes, see);
    return see;
  }

 private:
  const double* com(int body) const {
    static constexpr double kZero[3] = {};
    return body < 0 ? kZero : mechanism_->numbers().data() + mechanism_->bodies()[body].numbers + BodyNumbers::com;
  }

  /// R (1 + δφ^), p + δp
  template <class T>
  maximal::Pose<T> pose(const Instant& instant, int body, int first) const {
    maximal::Pose<T> at;
    if (body < 0) return at;
    const Eigen::Matrix3d R = SO3::load(instant.q.data() + 7 * body).matrix();
    Vector3<T> turn;
    for (int k = 0; k < 3; ++k) {
      turn[k] = seeded<T>(0.0, instant.dq, 6 * body + k, first);
      at.p[k] = seeded<T>(instant.q[7 * body + 4 + k], instant.dq, 6 * body + 3 + k, first);
    }
    at.R = R.template cast<T>();
    if constexpr (kDirections < T >> 0) at.R += R.template cast<T>() * skew<T>(turn);
    return at;
  }

  /// Six numbers of a body's v or a; of the ground zero.
  template <class T>
  static void six(const Eigen::VectorXd& x, const Eigen::MatrixXd& dx, int body, int first, T* out) {
    for (int k = 0; k < 6; ++k) out[k] = body < 0 ? T(0.0) : seeded<T>(x, dx, 6 * body + k, first);
  }

  /// Of the frame's origin, in world axes; c: the centre of mass from there.
  ///
  ///     v = v_c − ω × c,   a = a_c − α × c − ω × (ω × c)
  template <class T>
  BodyState<T> body(const Instant& instant, int index, Level level, int first) const {
    BodyState<T> state;
    if (index < 0) return state;
    const maximal::Pose<T> at = pose<T>(instant, index, first);
    const Vector3<T> c = at.R * Eigen::Map<const Eigen::Vector3d>(com(index)).template cast<T>();
    state.R = at.R;
    state.p = at.p - c;
    if (level < Level::velocity) return state;
    T v[6];
    six(instant.v, instant.dv, index, first, v);
    state.omega = at.R * Vector3<T>(v[0], v[1], v[2]);
    state.v = Vector3<T>(v[3], v[4], v[5]) - state.omega.cross(c);
    if (level < Level::acceleration) return state;
    T a[6];
    six(instant.a, instant.da, index, first, a);
    state.alpha = at.R * Vector3<T>(a[0], a[1], a[2]);
    state.a = Vector3<T>(a[3], a[4], a[5]) - state.alpha.cross(c) - state.omega.cross(state.omega.cross(c));
    return state;
  }

  template <class T>
  void see_joint(const Instant& instant, const ScrewPlace& place, int first, View<T>& see) const {
    const maximal::Joint& joint = mechanism_->joints()[joint_of_[place.coordinate]];
    const screw::Coordinate& c = mechanism_->tree().coordinates()[place.coordinate];
    T com_a[3], com_b[3], numbers[JointNumbers::count], v[12];
    for (int k = 0; k < 3; ++k) com_a[k] = T(com(joint.a)[k]), com_b[k] = T(com(joint.b)[k]);
    for (int k = 0; k < JointNumbers::count; ++k) numbers[k] = T(mechanism_->numbers()[joint.numbers + k]);
    six(instant.v, instant.dv, joint.a, first, v);
    six(instant.v, instant.dv, joint.b, first, v + 6);
    const maximal::JointPlace<T> at(pose<T>(instant, joint.a, first), pose<T>(instant, joint.b, first), com_a, com_b,
                                    numbers);
    const int freedom = place.v - c.v;
    if (joint.type == JointType::floating) {
      see.rate = relative_twist(at, v)[freedom];
    } else {
      maximal::Row<T> rows[6];
      maximal::freedom_rows(joint, maximal::RowMaker<T>(at.F, at.M), rows);
      see.rate = place.ratio * rows[freedom].rate(v);
      see.coordinate = rows[freedom].value;
      const int near = mechanism_->stored() + c.q + place.q;
      const bool angular = mechanism_->freedoms()[joint.freedom + freedom].angular;
      if (near < instant.q.size()) see.coordinate = maximal::continued<T>(see.coordinate, angular, instant.q[near]);
      see.coordinate = place.ratio * see.coordinate + place.offset;
    }
    if (c.stored == c.freedoms) return;
    const Vector3<T> apart = at.F.R.transpose() * (at.M.p - at.F.p);
    see.coordinate = place.q >= 4 ? apart[place.q - 4] : quaternion(at, instant, c.q)[place.q];
  }

  /// w x y z of X_FM: of ± the one nearer to what the instant says.
  template <class T>
  Eigen::Matrix<T, 4, 1> quaternion(const maximal::JointPlace<T>& at, const Instant& instant, int place) const {
    const SO3T<T> rotation{Matrix3<T>(at.F.R.transpose() * at.M.R)};
    Eigen::Matrix<T, 4, 1> found;
    rotation.store(found.data());
    const int near = mechanism_->stored() + place;
    if (near >= instant.q.size()) return found;
    double dot = 0;
    for (int k = 0; k < 4; ++k) dot += maximal::value_of(found[k]) * instant.q[near + k];
    return dot < 0 ? Eigen::Matrix<T, 4, 1>(-found) : found;
  }

  /// Of M against F, seen from M.
  template <class T>
  static Eigen::Matrix<T, 6, 1> relative_twist(const maximal::JointPlace<T>& at, const T* v) {
    using Map = Eigen::Map<const Vector3<T>>;
    const Vector3<T> omega_a = at.F.body * Map(v), omega_b = at.M.body * Map(v + 6);
    const Vector3<T> here = Map(v + 9) + omega_b.cross(at.M.arm);
    const Vector3<T> carried = Map(v + 3) + omega_a.cross(Vector3<T>(at.F.arm + at.M.p - at.F.p));
    Eigen::Matrix<T, 6, 1> twist;
    twist << at.M.R.transpose() * (omega_b - omega_a), at.M.R.transpose() * (here - carried);
    return twist;
  }

  std::shared_ptr<const Mechanism> mechanism_;
  bool planar_;
  std::vector<ScrewPlace> places_;
  std::vector<int> joint_of_;  ///< per coordinate of the tree
};

}  // namespace

std::unique_ptr<Observer> make_observer(const Model& model, std::shared_ptr<const Mechanism> mechanism) {
  return std::make_unique<MachineObserver<MaximalMachine>>(model, std::move(mechanism));
}

}  // namespace kinegraph::sensor

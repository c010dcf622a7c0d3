#include <algorithm>
#include <stdexcept>

#include "kinegraph/mechanics/natural/placed.hpp"
#include "kinegraph/mechanics/natural/reactions.hpp"
#include "kinegraph/mechanics/natural/system.hpp"
#include "kinegraph/mechanics/sensor/machine_observer.hpp"

namespace kinegraph::sensor {
namespace {

using natural::Operand;

/// A planar machine in natural coordinates.
class NaturalMachine {
 public:
  NaturalMachine(const Model& model, std::shared_ptr<const natural::System> system)
      : system_(std::move(system)), down_(model.gravity.x(), model.gravity.y(), 0) {
    for (const PlanarBody& body : model.bodies) bodies_.push_back(frame(model, body));
    for (const Sensor& sensor : model.sensors) places_.push_back(place(model, sensor));
  }

  // not inlined: once per scalar, not once per type of sensor
  template <class T>
  [[gnu::noinline]] View<T> view(const Instant& instant, int sensor, const Needs& needs, int first) const {
    const Place& place = places_[sensor];
    View<T> see(true, down_, place.mounting);
    if (needs.on != Level::none) see.on = body<T>(instant, place.on, needs.on, first);
    if (needs.other != Level::none) see.other = body<T>(instant, place.other, needs.other, first);
    if (needs.coordinate) see.coordinate = seeded<T>(instant.q, instant.dq, place.coordinate, first);
    if (needs.rate) see.rate = seeded<T>(instant.v, instant.dv, place.coordinate, first);
    if (needs.torque) see.torque = seeded<T>(instant.tau, instant.dtau, place.motor, first);
    if (needs.reaction) see.force = reaction<T>(instant, place.reaction, first);
    return see;
  }

 private:
  struct Frame {
    std::array<Operand, 4> points;  ///< x₀ y₀ x₁ y₁
    double length = 1;
  };
  struct Place {
    Mounting mounting;
    int on = -1, other = -1;  ///< bodies; −1: the ground
    int coordinate = -1, motor = -1, reaction = -1;
  };

  Operand operand(const Model& model, CoordinateRef::What what, PointIndex p) const {
    const int axis = what == CoordinateRef::What::point_x ? 0 : 1;
    return {system_->index_of({what, p.value}), model.points[p.value].position[axis]};
  }

  Frame frame(const Model& model, const PlanarBody& body) const {
    using What = CoordinateRef::What;
    const PointIndex p0 = body.points[0], p1 = body.points[1];
    return {{operand(model, What::point_x, p0), operand(model, What::point_y, p0), operand(model, What::point_x, p1),
             operand(model, What::point_y, p1)},
            body.length};
  }

  Place place(const Model& model, const Sensor& sensor) {
    Place p;
    p.mounting = {sensor.on.at, sensor.other.at, sensor.R_BS};
    p.on = sensor.on.body;
    p.other = sensor.other.body;
    if (sensor.coordinate >= 0) p.coordinate = system_->index_of({CoordinateRef::What::relative, sensor.coordinate});
    p.motor = sensor.motor;
    if (sensor.type == SensorType::load_cell) p.reaction = find_reaction(model, sensor);
    return p;
  }

  int find_reaction(const Model& model, const Sensor& sensor) {
    if (!reactions_) reactions_.emplace(model, system_);
    const std::vector<std::string>& names = reactions_->names();
    const auto found = std::find(names.begin(), names.end(), sensor.reaction + ".fx");
    if (found == names.end())
      throw std::invalid_argument("sensor " + sensor.name + ": no joint carries the force " + sensor.reaction);
    return static_cast<int>(found - names.begin());
  }

  template <class T>
  static T read(const Operand& o, const Eigen::VectorXd& q, const Eigen::MatrixXd& dq, int first) {
    return o.moves() ? seeded<T>(q, dq, o.index, first) : T(o.constant);
  }
  template <class T>
  static T read_rate(const Operand& o, const Eigen::VectorXd& v, const Eigen::MatrixXd& dv, int first) {
    return o.moves() ? seeded<T>(v, dv, o.index, first) : T(0.0);
  }

  /// With d = p₁ − p₀ = L e, e the body's x axis:   e = d / L,   ω = (e × ḋ) / L,   α = (e × d̈) / L
  template <class T>
  BodyState<T> body(const Instant& instant, int index, Level level, int first) const {
    BodyState<T> state;
    if (index < 0) return state;
    const Frame& frame = bodies_[index];
    const auto& [x0, y0, x1, y1] = frame.points;
    const double k = 1 / frame.length;
    const auto position = [&](const Operand& o) { return read<T>(o, instant.q, instant.dq, first); };
    state.p[0] = position(x0), state.p[1] = position(y0);
    const T ex = (position(x1) - state.p[0]) * k, ey = (position(y1) - state.p[1]) * k;
    state.R(0, 0) = ex, state.R(1, 0) = ey, state.R(0, 1) = -ey, state.R(1, 1) = ex;
    if (level == Level::position) return state;
    const auto turning = [&](const Eigen::VectorXd& v, const Eigen::MatrixXd& dv, Vector3<T>& origin) {
      const auto rate = [&](const Operand& o) { return read_rate<T>(o, v, dv, first); };
      origin[0] = rate(x0), origin[1] = rate(y0);
      return T((ex * (rate(y1) - origin[1]) - ey * (rate(x1) - origin[0])) * k);
    };
    state.omega[2] = turning(instant.v, instant.dv, state.v);
    if (level == Level::acceleration) state.alpha[2] = turning(instant.a, instant.da, state.a);
    return state;
  }

  template <class T>
  Vector3<T> reaction(const Instant& instant, int place, int first) const {
    Vector3<T> force = Vector3<T>::Zero();
    if constexpr (kDirections<T> == 0) {
      const auto f = reactions_->at(place, instant.q.data(), instant.a.data(), instant.reaction.data(), instant.t);
      force[0] = f[0], force[1] = f[1];
    } else {
      const int count = std::min(kDirections<T>, instant.directions() - first);
      for (int j = 0; j < count; ++j) {
        const auto f = reactions_->along(place, instant.q.data(), instant.a.data(), instant.reaction.data(), instant.t,
                                         instant.dq.col(first + j).data(), instant.da.col(first + j).data(),
                                         instant.dreaction.col(first + j).data());
        for (int i = 0; i < 2; ++i) force[i].a = f[i].x, force[i].v[j] = f[i].d;
      }
    }
    return force;
  }

  std::shared_ptr<const natural::System> system_;
  Eigen::Vector3d down_;
  std::vector<Frame> bodies_;
  std::vector<Place> places_;
  std::optional<natural::Reactions> reactions_;
};

}  // namespace

std::unique_ptr<Observer> make_observer(const Model& model, std::shared_ptr<const natural::System> system) {
  return std::make_unique<MachineObserver<NaturalMachine>>(model, std::move(system));
}

}  // namespace kinegraph::sensor

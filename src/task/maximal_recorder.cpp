#include "kinegraph/task/maximal_recorder.hpp"

#include <algorithm>
#include <cmath>

#include "kinegraph/base/taylor.hpp"
#include "kinegraph/mechanics/maximal/balance.hpp"
#include "kinegraph/model/joint_names.hpp"
#include "kinegraph/task/append_names.hpp"

namespace kinegraph::task {
namespace {

using Map3 = Eigen::Map<const Eigen::Vector3d>;

/// A model whose sensors are load cells in all pins of a planar mechanism.
Model with_cells(const Model& model, const std::vector<std::string>& pins) {
  Model cells = model;
  cells.sensors.clear();
  for (std::size_t i = 0; i + 1 < pins.size(); i += 2) {
    Sensor cell;
    cell.type = SensorType::load_cell;
    cell.name = cell.reaction = pins[i].substr(0, pins[i].rfind('.'));
    cell.channels.resize(2);
    cells.sensors.push_back(std::move(cell));
  }
  return cells;
}

struct Line {
  Taylor2 x, y;
};
Taylor2 cross(const Line& a, const Line& b) { return a.x * b.y - a.y * b.x; }
Taylor2 dot(const Line& a, const Line& b) { return a.x * b.x + a.y * b.y; }

/// atan2(y, x) of s = y, c = x:   θ̇ = (c ṡ − s ċ)/(s² + c²)
Taylor2 angle(const Taylor2& s, const Taylor2& c) {
  const double size = s.x * s.x + c.x * c.x;
  const double rate = (c.x * s.d - s.x * c.d) / size;
  const double change = (c.x * s.dd - s.x * c.dd) / size - 2 * rate * (s.x * s.d + c.x * c.d) / size;
  return {std::atan2(s.x, c.x), rate, change};
}

}  // namespace

MaximalState::MaximalState(const maximal::Mechanism& m)
    : q_tree(m.tree().start_position()),
      v_tree(Eigen::VectorXd::Zero(m.tree().freedoms())),
      a_tree(v_tree),
      moved_(m.stored()),
      step_(m.tangent()),
      speed_(m.tangent()),
      rates_(m.tree().freedoms()) {
  instant.q.resize(m.stored() + m.tree().stored());
  instant.v.resize(m.tangent());
  instant.a.resize(m.tangent());
  instant.tau.setZero(m.tree().freedoms());
}

void MaximalState::set(const maximal::Mechanism& m, double t, double h, const double* q, const double* before,
                       const double* after) {
  const Eigen::Map<const Eigen::VectorXd> last(before, m.tangent()), next(after, m.tangent());
  instant.t = t;
  std::copy_n(q, m.stored(), instant.q.data());
  instant.v = 0.5 * (last + next);
  instant.a = (next - last) / h;
  const Eigen::VectorXd& numbers = m.numbers();
  maximal::coordinates_of(m, numbers, q, q_tree.data());
  maximal::rates_of(m, numbers, q, instant.v.data(), v_tree.data());
  // half a step ahead and back
  const int bodies = static_cast<int>(m.bodies().size());
  step_ = (h / 2) * instant.v;
  maximal::retract(bodies, q, step_.data(), moved_.data());
  maximal::rates_of(m, numbers, moved_.data(), after, a_tree.data());
  step_ = -step_;
  maximal::retract(bodies, q, step_.data(), moved_.data());
  maximal::rates_of(m, numbers, moved_.data(), before, rates_.data());
  a_tree = (a_tree - rates_) / h;
  instant.q.tail(m.tree().stored()) = q_tree;
}

MaximalRecorder::MaximalRecorder(const Model& model, std::shared_ptr<const maximal::Mechanism> mechanism,
                                 const MaximalDrive& drive, const Options& options)
    : mechanism_(std::move(mechanism)), drive_(drive), planar_(!model.spatial()), poses_(options.poses) {
  const screw::Tree& tree = mechanism_->tree();
  for (const screw::Coordinate& c : tree.coordinates()) {
    driven_.push_back(std::any_of(drive.driven().begin(), drive.driven().end(),
                                  [&](int i) { return i >= c.v && i < c.v + c.freedoms; }));
    if (planar_) continue;
    append(names_, position_names(c.name, c.type));
    append(names_, velocity_names(c.name, c.type));
    append(names_, acceleration_names(c.name, c.type));
    if (driven_.back()) append(names_, torque_names(c.name, c.type));
  }
  if (planar_) place_points(model);
  if (poses_) {
    for (const Link& link : tree.robot().links) {
      for (const char* part : {".x", ".y", ".z", ".qw", ".qx", ".qy", ".qz"}) names_.push_back(link.name + part);
    }
    links_.resize(tree.robot().links.size());
  }
  if (options.reactions && planar_) {
    const natural::Reactions known(model, std::make_shared<natural::System>(model));
    append(names_, known.names());
    pins_ = sensor::make_observer(with_cells(model, known.names()), mechanism_);
  } else if (options.reactions) {
    append(names_, reactions_.emplace(mechanism_->shared_tree()).names());
  }
  row_.resize(names_.size());
}

/// Links of a planar model are its bodies, then its sliders (model/planar_robot.hpp).
void MaximalRecorder::place_points(const Model& model) {
  const auto system = std::make_shared<natural::System>(model);
  natural_.emplace(model, system, false);
  append(names_, natural_->names());
  relative_ = model.relative;
  const screw::Tree& tree = mechanism_->tree();
  int coordinate = 0;
  for (int p = 0; p < static_cast<int>(model.points.size()); ++p) {
    const Point& point = model.points[p];
    PointPlace place{-1, {point.position.x(), point.position.y(), 0}};
    coordinate_of_.push_back(point.fixed ? -1 : coordinate);
    if (!point.fixed) coordinate += 2;
    for (std::size_t b = 0; b < model.bodies.size() && !point.fixed; ++b) {
      const std::vector<PointIndex>& points = model.bodies[b].points;
      const auto found = std::find(points.begin(), points.end(), PointIndex(p));
      if (found == points.end()) continue;
      const Vector2d local = model.bodies[b].local[found - points.begin()];
      place = {tree.links()[b].body, tree.links()[b].X_BL * Eigen::Vector3d(local.x(), local.y(), 0)};
      if (place.body >= 0) {
        place.at -=
            Map3(mechanism_->numbers().data() + mechanism_->bodies()[place.body].numbers + maximal::BodyNumbers::com);
      }
      break;
    }
    points_.push_back(place);
  }
  q_ = system->guess();
  v_.setZero(q_.size());
  a_.setZero(q_.size());
  u_.setZero(system->motors());
}

// x = p + R r,   ẋ = v + ω × R r,   ẍ = a + α × R r + ω × (ω × R r)
void MaximalRecorder::natural_coordinates(const MaximalState& state) {
  const sensor::Instant& now = state.instant;
  std::vector<Line> at(points_.size());
  for (std::size_t p = 0; p < points_.size(); ++p) {
    Eigen::Vector3d x = points_[p].at, speed = Eigen::Vector3d::Zero(), change = Eigen::Vector3d::Zero();
    if (const int body = points_[p].body; body >= 0) {
      const Eigen::Matrix3d R = SO3::load(now.q.data() + 7 * body).matrix();
      const Eigen::Vector3d arm = R * x, omega = R * now.v.segment<3>(6 * body), alpha = R * now.a.segment<3>(6 * body);
      x = now.q.segment<3>(7 * body + 4) + arm;
      speed = now.v.segment<3>(6 * body + 3) + omega.cross(arm);
      change = now.a.segment<3>(6 * body + 3) + alpha.cross(arm) + omega.cross(omega.cross(arm));
    }
    at[p] = {{x[0], speed[0], change[0]}, {x[1], speed[1], change[1]}};
    if (const int c = coordinate_of_[p]; c >= 0) {
      q_.segment<2>(c) = x.head<2>(), v_.segment<2>(c) = speed.head<2>(), a_.segment<2>(c) = change.head<2>();
    }
  }
  Eigen::Index c = q_.size() - static_cast<Eigen::Index>(relative_.size());
  for (const RelativeCoordinate& r : relative_) {
    const auto line = [&](int from, int to) {
      const Line &a = at[r.points[from].value], &b = at[r.points[to].value];
      return Line{b.x - a.x, b.y - a.y};
    };
    const Line d = line(0, 1);
    Taylor2 found;
    const bool position = r.type == RelativeCoordinate::Type::relative_position;
    if (r.type == RelativeCoordinate::Type::absolute_angle) found = angle(d.y, d.x);
    if (r.type == RelativeCoordinate::Type::relative_angle) found = angle(cross(d, line(2, 3)), dot(d, line(2, 3)));
    if (position) found = dot(d, line(0, 2)) / sqrt(dot(d, d));
    q_[c] = maximal::continued(found.x, !position, nearby(r, c, state)), v_[c] = found.d, a_[c] = found.dd;
    ++c;
  }
}

/// Where an angle is near: its joint, if it has one, else its last value.
double MaximalRecorder::nearby(const RelativeCoordinate& r, Eigen::Index c, const MaximalState& state) const {
  const int coordinate = mechanism_->tree().find_coordinate(r.name);
  return coordinate < 0 ? q_[c] : state.q_tree[mechanism_->tree().coordinates()[coordinate].q];
}

double* MaximalRecorder::write_joints(const MaximalState& state, double* out) const {
  for (std::size_t i = 0; i < driven_.size(); ++i) {
    const screw::Coordinate& c = mechanism_->tree().coordinates()[i];
    out = std::copy_n(state.q_tree.data() + c.q, c.stored, out);
    out = std::copy_n(state.v_tree.data() + c.v, c.freedoms, out);
    out = std::copy_n(state.a_tree.data() + c.v, c.freedoms, out);
    for (int k = 0; driven_[i] && k < c.freedoms; ++k) *out++ = drive_.torque(c.v + k, state.instant.t);
  }
  return out;
}

const double* MaximalRecorder::row(const MaximalState& state) {
  double* out = row_.data();
  const sensor::Instant& now = state.instant;
  if (planar_) {
    natural_coordinates(state);
    for (Eigen::Index i = 0; i < u_.size(); ++i) u_[i] = drive_.motor(static_cast<int>(i), now.t);
    const double* natural = natural_->row(q_.data(), v_.data(), a_.data(), nullptr, u_.data(), now.t);
    out = std::copy_n(natural, natural_->names().size(), out);
  } else {
    out = write_joints(state, out);
  }
  if (poses_) {
    maximal::link_poses(*mechanism_, mechanism_->numbers(), now.q.data(), links_.data());
    for (const SE3& X : links_) {
      out = std::copy_n(X.position().data(), 3, out);
      X.rotation().store(out);
      out += 4;
    }
  }
  if (pins_) {
    for (int i = 0; i < pins_->sensors(); ++i, out += 2) pins_->read(now, i, out);
  }
  if (reactions_) {
    const auto axes = [&](int body) { return SO3::load(now.q.data() + 7 * body).matrix(); };
    reactions_->write(now.reaction, axes, out);
  }
  return row_.data();
}

}  // namespace kinegraph::task

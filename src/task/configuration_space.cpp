#include "kinegraph/task/configuration_space.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace kinegraph::task {

NaturalConfigurations::NaturalConfigurations(std::shared_ptr<const Model> model,
                                             std::shared_ptr<const natural::System> system, double t)
    : model_(std::move(model)), system_(std::move(system)), t_(t) {
  tangent_ = system_->coordinates();
  for (int r = 0; r < system_->constraints(); ++r) {
    const bool driver = system_->constraint_name(r).rfind("driver ", 0) == 0;
    if (driver) driver_rows_.push_back(r);
    row_.push_back(driver ? -1 : rows_++);
  }
  const int relative = static_cast<int>(model_->relative.size()), points = tangent_ - relative;
  for (int i = 0; i < tangent_; ++i) {
    const bool angle = i >= points && model_->relative[i - points].type != RelativeCoordinate::Type::relative_position;
    angle_.push_back(angle);
    scale_.push_back(angle ? 1 : length());
  }
  phi_.resize(system_->constraints());
  phi_q_.resize(system_->jacobian_pattern().size());
  // Triangles of which at least one corner moves.
  const int all = static_cast<int>(model_->points.size());
  for (int a = 0; a < all; ++a) {
    for (int b = a + 1; b < all; ++b) {
      for (int c = b + 1; c < all; ++c) {
        if (model_->points[a].fixed && model_->points[b].fixed && model_->points[c].fixed) continue;
        triangles_.push_back({a, b, c});
      }
    }
  }
}

void NaturalConfigurations::evaluate(const Eigen::VectorXd& q, Eigen::VectorXd& phi, Eigen::MatrixXd* jacobian) {
  system_->position(q.data(), t_, phi_.data(), jacobian ? phi_q_.data() : nullptr);
  phi.resize(rows_);
  for (std::size_t r = 0; r < row_.size(); ++r) {
    if (row_[r] >= 0) phi[row_[r]] = phi_[r] / length();
  }
  if (!jacobian) return;
  jacobian->setZero(rows_, tangent_);
  const auto pattern = system_->jacobian_pattern();
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const int r = row_[pattern[i].row], c = pattern[i].column;
    if (r >= 0) (*jacobian)(r, c) += phi_q_[i] * scale_[c] / length();
  }
}

void NaturalConfigurations::retract(const Eigen::VectorXd& q, const Eigen::VectorXd& delta,
                                    Eigen::VectorXd& out) const {
  out.resize(q.size());
  for (int i = 0; i < tangent_; ++i) out[i] = q[i] + scale_[i] * delta[i];
}

void NaturalConfigurations::local(const Eigen::VectorXd& q, const Eigen::VectorXd& other,
                                  Eigen::VectorXd& delta) const {
  delta.resize(tangent_);
  for (int i = 0; i < tangent_; ++i) {
    const double d = other[i] - q[i];
    delta[i] = angle_[i] ? std::remainder(d, 2 * M_PI) : d / scale_[i];
  }
}

void NaturalConfigurations::wrap(Eigen::VectorXd& q) const {
  for (int i = 0; i < tangent_; ++i) {
    if (angle_[i]) q[i] = std::remainder(q[i], 2 * M_PI);
  }
}

Eigen::VectorXd NaturalConfigurations::random(Random& random) const {
  Eigen::Vector2d low = model_->points[0].position, high = low;
  double reach = 0;
  for (const Point& p : model_->points) low = low.cwiseMin(p.position), high = high.cwiseMax(p.position);
  for (const PlanarBody& b : model_->bodies) reach = std::max(reach, b.length);
  const Eigen::Vector2d centre = 0.5 * (low + high);
  const double radius = 0.5 * (high - low).maxCoeff() + reach;
  const int points = tangent_ - static_cast<int>(model_->relative.size());
  Eigen::VectorXd q(tangent_);
  for (int i = 0; i < tangent_; ++i) {
    q[i] = i < points ? centre[i % 2] + radius * random.uniform(-1, 1) : random.uniform(-M_PI, M_PI);
    if (i >= points && !angle_[i]) q[i] = radius * random.uniform(-1, 1);
  }
  return q;
}

// The equation of an angle has θ + π as a second root: try which of them are meant.
bool NaturalConfigurations::settle(Eigen::VectorXd& q) const {
  if (system_->proper(q.data())) return true;
  std::vector<int> angles;
  for (int i = 0; i < tangent_; ++i) {
    if (angle_[i]) angles.push_back(i);
  }
  const int n = static_cast<int>(angles.size());
  if (n > 8) return false;
  Eigen::VectorXd trial(q.size());
  for (int mask = 1; mask < 1 << n; ++mask) {
    trial = q;
    for (int i = 0; i < n; ++i) {
      if (mask >> i & 1) trial[angles[i]] += trial[angles[i]] > 0 ? -M_PI : M_PI;
    }
    if (!system_->proper(trial.data())) continue;
    system_->position(trial.data(), t_, phi_.data(), nullptr);
    double most = 0;
    for (std::size_t r = 0; r < row_.size(); ++r) {
      if (row_[r] >= 0) most = std::max(most, std::abs(phi_[r]));
    }
    if (most > 1e-6 * std::max(length(), length() * length())) continue;
    q = trial;
    return true;
  }
  return false;
}

Eigen::Vector2d NaturalConfigurations::point(const Eigen::VectorXd& q, int i) const {
  const int x = system_->index_of({CoordinateRef::What::point_x, i});
  return x >= 0 ? Eigen::Vector2d(q[x], q[x + 1]) : model_->points[i].position;
}

std::vector<double> NaturalConfigurations::signs(const Eigen::VectorXd& q) const {
  std::vector<double> areas;
  for (const auto& [a, b, c] : triangles_) {
    const Eigen::Vector2d u = point(q, b) - point(q, a), v = point(q, c) - point(q, a);
    areas.push_back((u[0] * v[1] - u[1] * v[0]) / (length() * length()));
  }
  // A point on a line may have changed sides instead.
  const int points = tangent_ - static_cast<int>(model_->relative.size());
  for (int i = points; i < tangent_; ++i) areas.push_back(angle_[i] ? std::sin(q[i]) : q[i] / length());
  for (int i = 0; i < points; ++i) areas.push_back(q[i] / length());
  return areas;
}

std::string NaturalConfigurations::sign_name(int i, bool positive) const {
  const int triangles = static_cast<int>(triangles_.size()), relative = static_cast<int>(model_->relative.size());
  if (i < triangles) {
    const auto& [a, b, c] = triangles_[i];
    return fmt::format("{}-{}-{} turns {}", model_->points[a].name, model_->points[b].name, model_->points[c].name,
                       positive ? "left" : "right");
  }
  i -= triangles;
  const int coordinate = i < relative ? tangent_ - relative + i : i - relative;
  const std::string& name = system_->coordinate_name(coordinate);
  return angle_[coordinate] ? fmt::format("sin {} {} 0", name, positive ? ">" : "<")
                            : fmt::format("{} {} 0", name, positive ? ">" : "<");
}

std::vector<NaturalConfigurations::Driver> NaturalConfigurations::drivers(const Eigen::VectorXd& q) const {
  std::vector<double> phi(system_->constraints());
  system_->position(q.data(), t_, phi.data(), nullptr);
  std::vector<Driver> list;
  for (const int r : driver_rows_) {
    for (const Entry& e : system_->jacobian_pattern()) {
      if (e.row == r) list.push_back({e.column, q[e.column] - phi[r]});
    }
  }
  return list;
}

namespace {

/// Whether other joints mimic this one: a full turn may then be none of theirs.
bool followed(const screw::Tree& tree, const screw::Coordinate& c) {
  const auto& joints = tree.robot().joints;
  return std::any_of(joints.begin(), joints.end(),
                     [&](const Joint& joint) { return joint.mimic && joint.mimic->joint.value == c.joint; });
}

}  // namespace

LoopConfigurations::LoopConfigurations(std::shared_ptr<const screw::Tree> tree, int loop_set, Eigen::VectorXd start)
    : tree_(std::move(tree)), system_(*tree_), start_(std::move(start)) {
  for (const screw::Coordinate& c : tree_->coordinates()) {
    if (c.loop_set != loop_set || !c.in_loop) continue;
    coordinates_.push_back(&c);
    for (int k = 0; k < c.freedoms; ++k) {
      columns_.push_back(c.v + k);
      wraps_.push_back(c.stored == c.freedoms && !system_.is_length(c.v + k) && c.type != JointType::screw &&
                       !followed(*tree_, c));
    }
  }
  tangent_ = static_cast<int>(columns_.size());
  // The loops of this set: those with any of its joints.
  Eigen::VectorXd open;
  Eigen::MatrixXd jacobian;
  system_.evaluate(start_, open, &jacobian);
  for (int l = 0; l < system_.loops(); ++l) {
    const Eigen::MatrixXd rows = jacobian.middleRows(6 * l, 6)(Eigen::all, columns_);
    for (int k = 0; k < 6 && rows.cwiseAbs().maxCoeff() > 0; ++k) rows_.push_back(6 * l + k);
  }
}

void LoopConfigurations::evaluate(const Eigen::VectorXd& q, Eigen::VectorXd& phi, Eigen::MatrixXd* jacobian) {
  system_.evaluate(q, open_, jacobian ? &jacobian_ : nullptr);
  phi = open_(rows_);
  if (!jacobian) return;
  *jacobian = jacobian_(rows_, columns_);
  for (int c = 0; c < tangent_; ++c) {
    if (system_.is_length(columns_[c])) jacobian->col(c) *= system_.length();
  }
}

void LoopConfigurations::retract(const Eigen::VectorXd& q, const Eigen::VectorXd& delta, Eigen::VectorXd& out) const {
  Eigen::VectorXd all = Eigen::VectorXd::Zero(tree_->freedoms());
  for (int c = 0; c < tangent_; ++c) {
    all[columns_[c]] = delta[c] * (system_.is_length(columns_[c]) ? system_.length() : 1);
  }
  out.resize(q.size());
  tree_->retract(q.data(), all.data(), out.data());
}

void LoopConfigurations::local(const Eigen::VectorXd& q, const Eigen::VectorXd& other, Eigen::VectorXd& delta) const {
  Eigen::VectorXd all(tree_->freedoms());
  tree_->local(q.data(), other.data(), all.data());
  delta.resize(tangent_);
  for (int c = 0; c < tangent_; ++c) {
    const double d = all[columns_[c]];
    delta[c] = wraps_[c] ? std::remainder(d, 2 * M_PI) : d / (system_.is_length(columns_[c]) ? system_.length() : 1);
  }
}

void LoopConfigurations::wrap(Eigen::VectorXd& q) const {
  std::size_t column = 0;
  for (const screw::Coordinate* c : coordinates_) {
    for (int k = 0; k < c->freedoms; ++k, ++column) {
      if (wraps_[column]) q[c->q + k] = std::remainder(q[c->q + k], 2 * M_PI);
    }
  }
}

Eigen::VectorXd LoopConfigurations::random(Random& random) const {
  Eigen::VectorXd delta(tangent_), q;
  for (int c = 0; c < tangent_; ++c) delta[c] = (wraps_[c] ? M_PI : 2) * random.uniform(-1, 1);
  retract(start_, delta, q);
  return q;
}

std::vector<double> LoopConfigurations::signs(const Eigen::VectorXd& q) const {
  std::vector<double> list;
  for (const screw::Coordinate* c : coordinates_) {
    if (c->stored != c->freedoms) continue;
    for (int k = 0; k < c->freedoms; ++k) {
      list.push_back(system_.is_length(c->v + k) ? q[c->q + k] / system_.length() : std::sin(q[c->q + k]));
    }
  }
  return list;
}

std::string LoopConfigurations::sign_name(int i, bool positive) const {
  for (const screw::Coordinate* c : coordinates_) {
    if (c->stored != c->freedoms) continue;
    if (i >= c->freedoms) {
      i -= c->freedoms;
      continue;
    }
    const std::string& name = tree_->position_names()[c->q + i];
    return fmt::format("{}{} {} 0", system_.is_length(c->v + i) ? "" : "sin ", name, positive ? ">" : "<");
  }
  return {};
}

void LoopConfigurations::copy(const Eigen::VectorXd& from, Eigen::VectorXd& to) const {
  for (const screw::Coordinate* c : coordinates_) to.segment(c->q, c->stored) = from.segment(c->q, c->stored);
}

}  // namespace kinegraph::task

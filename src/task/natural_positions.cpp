#include "kinegraph/task/natural_positions.hpp"

#include <algorithm>

namespace kinegraph::task {

NaturalPositions::NaturalPositions(const Model& model, std::shared_ptr<const natural::System> system,
                                   const Eigen::VectorXd& start)
    : system_(std::move(system)), row_(system_->constraints(), 1) {
  const int relative = static_cast<int>(model.relative.size()), points = system_->coordinates() - relative;
  for (int i = 0; i < system_->coordinates(); ++i) {
    const bool angle = i >= points && model.relative[i - points].type != RelativeCoordinate::Type::relative_position;
    angle_.push_back(angle);
    scale_.push_back(angle ? 1 : system_->typical_length());
  }
  values_.resize(static_cast<Eigen::Index>(system_->jacobian_pattern().size()));
  Eigen::VectorXd phi;
  Eigen::MatrixXd jacobian;
  evaluate(start, phi, &jacobian);
  for (std::size_t r = 0; r < row_.size(); ++r) {
    const double size = jacobian.row(static_cast<Eigen::Index>(r)).norm();
    if (size > 0) row_[r] = size;
  }
}

void NaturalPositions::evaluate(const Eigen::VectorXd& q, Eigen::VectorXd& phi, Eigen::MatrixXd* jacobian) {
  phi.resize(static_cast<Eigen::Index>(row_.size()));
  system_->position(q.data(), t_, phi.data(), jacobian ? values_.data() : nullptr);
  for (std::size_t r = 0; r < row_.size(); ++r) phi[static_cast<Eigen::Index>(r)] /= row_[r];
  if (!jacobian) return;
  jacobian->setZero(phi.size(), changes());
  const auto pattern = system_->jacobian_pattern();
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const Entry& at = pattern[i];
    (*jacobian)(at.row, at.column) += values_[static_cast<Eigen::Index>(i)] * scale_[at.column] / row_[at.row];
  }
}

void NaturalPositions::retract(const Eigen::VectorXd& q, const Eigen::VectorXd& delta, Eigen::VectorXd& out) const {
  out.resize(q.size());
  for (int i = 0; i < changes(); ++i) out[i] = q[i] + scale_[i] * delta[i];
}

void NaturalPositions::local(const Eigen::VectorXd& q, const Eigen::VectorXd& other, Eigen::VectorXd& delta) const {
  delta.resize(changes());
  for (int i = 0; i < changes(); ++i) delta[i] = (other[i] - q[i]) / scale_[i];
}

void NaturalPositions::curvature(const Eigen::VectorXd& q, const Eigen::VectorXd& v, Eigen::VectorXd& gamma) {
  gamma.resize(static_cast<Eigen::Index>(row_.size()));
  system_->bias(q.data(), v.data(), t_, gamma.data(), values_.data());
  for (std::size_t r = 0; r < row_.size(); ++r) gamma[static_cast<Eigen::Index>(r)] /= row_[r];
}

std::vector<int> NaturalPositions::others(const std::vector<int>& leading) const {
  std::vector<int> list;
  for (int i = 0; i < changes(); ++i) {
    if (std::find(leading.begin(), leading.end(), i) == leading.end()) list.push_back(i);
  }
  return list;
}

std::vector<std::string> NaturalPositions::names() const {
  std::vector<std::string> list;
  for (int i = 0; i < changes(); ++i) list.push_back(system_->coordinate_name(i));
  return list;
}

}  // namespace kinegraph::task

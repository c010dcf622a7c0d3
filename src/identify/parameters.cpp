#include "kinegraph/identify/parameters.hpp"

namespace kinegraph::identify {
namespace {

/// ½ tr(I) 1 − I from ixx ixy ixz iyy iyz izz.
Eigen::MatrixXd second_moments(const double* six) {
  Matrix3d I;
  I << six[0], six[1], six[2], six[1], six[3], six[4], six[2], six[4], six[5];
  return Solid::second_moments(I);
}

}  // namespace

Eigen::VectorXd Parameters::values(const Eigen::VectorXd& x) const {
  Eigen::VectorXd s(settings_.size());
  for (const ParameterGroup& group : groups_) group.values(x.data() + group.coordinate, s.data() + group.setting);
  return s;
}

Eigen::MatrixXd Parameters::value_slopes(const Eigen::VectorXd& x) const {
  Eigen::MatrixXd slopes = Eigen::MatrixXd::Zero(static_cast<int>(settings_.size()), size());
  for (const ParameterGroup& group : groups_) {
    slopes.block(group.setting, group.coordinate, group.settings, group.coordinates) =
        group.slope(x.data() + group.coordinate);
  }
  return slopes;
}

Settings Parameters::settings(const Eigen::VectorXd& x) const {
  const Eigen::VectorXd s = values(x);
  Settings settings;
  for (std::size_t i = 0; i < settings_.size(); ++i) settings[settings_[i].name] = s[i];
  for (const ParameterGroup& group : groups_) {
    if (!std::holds_alternative<FlatSolid>(group.shape)) continue;
    settings[settings_[group.setting + 3].name] = FlatSolid::about_point(s.segment<4>(group.setting));
  }
  return settings;
}

Result<MachinePoint> Parameters::at(const Eigen::VectorXd& x, bool derivatives) const {
  const Eigen::VectorXd s = values(x);
  Result<MachineNumbers::Point> found = numbers_->at(s);
  if (!found) return found.failure();
  MachinePoint point;
  point.model = std::move(found->model);
  point.sensors = point.model.sensors;
  point.numbers = found->y.head(numbers_->links());
  if (!derivatives) return point;
  const Result<Eigen::MatrixXd> slope = numbers_->slope(s, found->y);
  if (!slope) return slope.failure();
  const Eigen::MatrixXd by_x = value_slopes(x);
  point.directions = slope->topRows(numbers_->links()) * by_x;
  point.bias = slope->middleRows(numbers_->biases(), numbers_->channels()) * by_x;
  point.scale = slope->middleRows(numbers_->scales(), numbers_->channels()) * by_x;
  return point;
}

/// Of links that single numbers move: mass > 0, and ½ tr(I) 1 − I ≻ 0 about the centre (in the plane I > 0).
std::vector<MatrixInequality> Parameters::inequalities(const Eigen::VectorXd& x) const {
  if (touched_.empty()) return {};
  const Eigen::VectorXd s = values(x);
  const int first = numbers_->links(), count = numbers_->biases() - first;
  Eigen::VectorXd links = numbers_->start_y().segment(first, count);
  Eigen::MatrixXd slope = numbers_->start_slope().middleRows(first, count);
  bool constant = true;
  for (int i = 0; i < s.size(); ++i) constant = constant && (numbers_->constant(i) || slope.col(i).isZero(0));
  if (constant) {
    links += slope * (s - numbers_->start());
  } else {
    const Result<MachineNumbers::Point> point = numbers_->at(s);
    const auto there = point ? numbers_->slope(s, point->y) : Result<Eigen::MatrixXd>(point.failure());
    if (!there) return {};
    links = point->y.segment(first, count);
    slope = there->middleRows(first, count);
  }
  slope = (slope * value_slopes(x)).eval();

  std::vector<MatrixInequality> all;
  const auto add = [&](const TouchedLink& touched, const char* what, const auto& matrix) {
    MatrixInequality& one = all.emplace_back();
    one.what = what + mechanism_->tree().robot().links[touched.link].name;
    one.value = matrix(links.data() + 10 * touched.link);
    for (int i = 0; i < size(); ++i) one.slope.push_back(matrix(slope.col(i).data() + 10 * touched.link));
  };
  for (const TouchedLink& touched : touched_) {
    const auto entry = [](int k) {
      return [k](const double* ten) -> Eigen::MatrixXd { return Eigen::MatrixXd::Constant(1, 1, ten[k]); };
    };
    if (touched.mass) add(touched, "mass of ", entry(0));
    if (!touched.moments) continue;
    if (model_.spatial()) {
      add(touched, "inertia of ", [](const double* ten) { return second_moments(ten + 4); });
    } else {
      add(touched, "inertia of ", entry(9));
    }
  }
  return all;
}

std::vector<Quantity> Parameters::quantities(const Eigen::VectorXd& x) const {
  const Eigen::VectorXd s = values(x);
  const Eigen::MatrixXd slopes = value_slopes(x);
  std::vector<Quantity> all;
  for (const ParameterGroup& group : groups_) {
    for (int i = group.setting; i < group.setting + group.settings; ++i) {
      Quantity& one = all.emplace_back();
      one.name = settings_[i].name;
      one.value = s[i];
      one.slope = slopes.row(i).transpose();
      if (std::holds_alternative<FlatSolid>(group.shape) && i == group.setting + 3) {
        const FlatSolid::Numbers n = s.segment<4>(group.setting);
        one.value = FlatSolid::about_point(n);
        one.slope = slopes.middleRows<4>(group.setting).transpose() * FlatSolid::point_slope(n);
      }
      const auto* number = std::get_if<ScaledNumber>(&group.shape);
      if (!number) continue;
      one.lower = number->scale * lower_[group.coordinate];
      one.upper = number->scale * upper_[group.coordinate];
    }
  }
  return all;
}

}  // namespace kinegraph::identify

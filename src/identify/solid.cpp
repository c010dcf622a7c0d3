#include "kinegraph/identify/solid.hpp"

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>

#include "kinegraph/base/dual.hpp"

namespace kinegraph::identify {
namespace {

constexpr double kStrict = 1e-9;  // second moments below this, of the largest, are zero but for rounding
constexpr double kFloor = 1e-4;   // what they are raised to
constexpr double kSmall = 1e-3;   // mass that is given to what has none, of the machine's
constexpr double kRadius = 1e-2;  // radius of gyration that is given to points, of the machine's length

/// Upper U with U Uᵀ = A: that of the matrix read backwards.
Matrix3d upper_factor(const Matrix3d& A) {
  const Matrix3d L = Matrix3d(A.reverse()).llt().matrixL();
  return L.reverse();
}

}  // namespace

Solid::Solid(const Inertia& start) {
  const double root = std::sqrt(start.mass);
  U_.setZero();
  U_.topLeftCorner<3, 3>() = upper_factor(second_moments(start.about_com));
  U_.topRightCorner<3, 1>() = root * start.com;
  U_(3, 3) = root;
}

/// Of U = [V w; 0 u]:   m = u²,   c = w/u,   Σ = V Vᵀ,   I = tr(Σ) 1 − Σ
template <class T>
Eigen::Matrix<T, Solid::kSize, 1> Solid::evaluate(const T* x) const {
  using std::exp;
  using Matrix4 = Eigen::Matrix<T, 4, 4>;
  using Matrix3 = Eigen::Matrix<T, 3, 3>;
  Matrix4 moved = Matrix4::Zero();
  for (int i = 0; i < 3; ++i) moved(i, i) = exp(T(0.5) * x[1 + i]), moved(i, 3) = x[7 + i];
  moved(0, 1) = x[4], moved(0, 2) = x[5], moved(1, 2) = x[6], moved(3, 3) = T(1.0);
  const Matrix4 U = U_.cast<T>() * moved * exp(T(0.5) * x[0]);
  const Matrix3 V = U.template topLeftCorner<3, 3>(), S = V * V.transpose();
  const T u = U(3, 3);
  Eigen::Matrix<T, kSize, 1> out;
  out[0] = u * u;
  for (int i = 0; i < 3; ++i) out[1 + i] = U(i, 3) / u;
  out[4] = S(1, 1) + S(2, 2), out[7] = S(0, 0) + S(2, 2), out[9] = S(0, 0) + S(1, 1);
  out[5] = -S(0, 1), out[6] = -S(0, 2), out[8] = -S(1, 2);
  return out;
}

Solid::Numbers Solid::at(const double* x) const { return evaluate<double>(x); }

Solid::Slope Solid::slope(const double* x) const {
  using Number = Dual<kSize>;
  std::array<Number, kSize> seeds;
  for (int i = 0; i < kSize; ++i) seeds[i] = Number(x[i], i);
  const Eigen::Matrix<Number, kSize, 1> values = evaluate<Number>(seeds.data());
  Slope slope;
  for (int i = 0; i < kSize; ++i) slope.row(i) = values[i].v.transpose();
  return slope;
}

bool Solid::possible(const Inertia& inertia) {
  const Vector3d moments =
      Eigen::SelfAdjointEigenSolver<Matrix3d>(second_moments(inertia.about_com), Eigen::EigenvaluesOnly).eigenvalues();
  return inertia.mass > 0 && moments[0] > kStrict * moments[2];
}

Inertia Solid::nearest(const Inertia& inertia, double mass, double length) {
  Inertia out = inertia;
  if (!(out.mass > 0)) out.mass = kSmall * mass;
  const Eigen::SelfAdjointEigenSolver<Matrix3d> parts(second_moments(inertia.about_com));
  const double largest = parts.eigenvalues()[2];
  const double floor = largest > 0 ? kFloor * largest : out.mass * std::pow(kRadius * length, 2);
  const Vector3d raised = parts.eigenvalues().cwiseMax(floor);
  const Matrix3d S = parts.eigenvectors() * raised.asDiagonal() * parts.eigenvectors().transpose();
  out.about_com = S.trace() * Matrix3d::Identity() - S;
  return out;
}

/// The smallest second moment is a concave function of each moment of inertia: its largest by ternary search, then by
/// bisection as near to what was given as a share of that largest one allows.
std::optional<Matrix3d> Solid::mended(Matrix3d I, const std::array<bool, 3>& free) {
  constexpr double kKept = 0.05;
  constexpr int kRounds = 100;
  const auto least = [&](int i, double value) {
    Matrix3d moved = I;
    moved(i, i) = value;
    return Eigen::SelfAdjointEigenSolver<Matrix3d>(second_moments(moved), Eigen::EigenvaluesOnly).eigenvalues()[0];
  };
  for (int i = 0; i < 3; ++i) {
    if (!free[i]) continue;
    double low = 0, high = 2 * I.cwiseAbs().sum();
    for (int round = 0; round < kRounds; ++round) {
      const double a = (2 * low + high) / 3, b = (low + 2 * high) / 3;
      (least(i, a) < least(i, b) ? low : high) = least(i, a) < least(i, b) ? a : b;
    }
    double best = 0.5 * (low + high), given = I(i, i);
    const double wanted = kKept * least(i, best);
    if (!(wanted > 0)) {
      I(i, i) = best;  // the next one may mend the rest
      continue;
    }
    if (least(i, given) >= wanted) return I;
    for (int round = 0; round < kRounds; ++round) {
      const double middle = 0.5 * (best + given);
      (least(i, middle) >= wanted ? best : given) = middle;
    }
    I(i, i) = best;
    return I;
  }
  return {};
}

FlatSolid::FlatSolid(const Numbers& start)
    : mass_(start[0]), x_(start[1]), y_(start[2]), inertia_(about_cog(start)), radius_(std::sqrt(inertia_ / mass_)) {}

FlatSolid::Numbers FlatSolid::at(const double* x) const {
  return {mass_ * std::exp(x[0]), x_ + radius_ * x[1], y_ + radius_ * x[2], inertia_ * std::exp(x[0] + x[3])};
}

FlatSolid::Slope FlatSolid::slope(const double* x) const {
  const Numbers n = at(x);
  Slope slope = Numbers(n[0], radius_, radius_, n[3]).asDiagonal();
  slope(3, 0) = n[3];
  return slope;
}

bool FlatSolid::possible(const Numbers& numbers) { return numbers[0] > 0 && about_cog(numbers) > kStrict * numbers[3]; }

FlatSolid::Numbers FlatSolid::nearest(Numbers numbers, double mass, double length) {
  const double own = std::max(about_cog(numbers), 0.0);
  if (!(numbers[0] > 0)) numbers[0] = kSmall * mass;
  const double least = numbers[0] * std::pow(kRadius * length, 2);
  const double arm = numbers[0] * (numbers[1] * numbers[1] + numbers[2] * numbers[2]);
  numbers[3] = arm + std::max(own, std::max(kFloor * arm, least));
  return numbers;
}

}  // namespace kinegraph::identify

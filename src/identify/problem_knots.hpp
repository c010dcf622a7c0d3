#pragma once

#include <Eigen/Core>
#include <vector>

namespace kinegraph::identify {

/// The velocity between two successive knots, and how it changes when either is moved.
///
///     v = (q⁺ ⊟ q)/h       ∂ω/∂φ = −Jₗ⁻¹(h ω)/h,   ∂ω/∂φ⁺ = Jᵣ⁻¹(h ω)/h       of centres of mass: ∓1/h
class KnotPair {
 public:
  explicit KnotPair(int bodies) : v_(6 * bodies), turn_(bodies) {}

  /// Velocity alone, or its slopes too.
  void set(const double* q, const double* next, double h, bool slopes);

  double h() const { return h_; }
  const double* v() const { return v_.data(); }
  /// ∂ω/∂φ⁺ of a body; ∂ω/∂φ is minus its transpose, because Jₗ = Jᵣᵀ.
  const Eigen::Matrix3d& turn(int body) const { return turn_[body]; }

 private:
  double h_ = 1;
  std::vector<double> v_;
  std::vector<Eigen::Matrix3d> turn_;
};

/// A body between two knots, and how it changes when one of three successive knots is moved.
struct BodyInstant {
  double q[7], v[6], a[6];
  Eigen::Matrix3d turn[3], spin[3], spin_rate[3];  ///< of q, ω and its rate, by φ of each knot
};

/// The motion at a fraction s of the step from the second of three knots to the third.
///
///     q(s) = q ⊞ h [s v⁺ + ½ s (s − 1)(v⁺ − v)],   v(s) = ½ (v + v⁺) + s (v⁺ − v),   a = (v⁺ − v)/h
class Interpolation {
 public:
  explicit Interpolation(int bodies) : bodies_(bodies), known_(bodies, Known::nothing) {}

  /// `q`: of the second knot. The pairs must outlive what is asked.
  void set(const double* q, const KnotPair& before, const KnotPair& after, double fraction, bool slopes);
  /// `rates`: the slopes of v and a are wanted, too.
  const BodyInstant& body(int i, bool rates = true);
  bool at_knot() const { return by_before_ == 0 && by_after_ == 0; }  ///< places are those of the second knot

  double shift(int knot) const { return shift_[knot]; }  ///< of centres of mass, by δp of each knot
  double speed(int knot) const { return speed_[knot]; }
  double push(int knot) const { return push_[knot]; }  ///< of their acceleration

 private:
  void find_place(int i, BodyInstant& out) const;
  void find_rate_slopes(int i, BodyInstant& out) const;

  const double* q_ = nullptr;
  const KnotPair *before_ = nullptr, *after_ = nullptr;
  double by_before_ = 0, by_after_ = 0, fraction_ = 0;
  double shift_[3], speed_[3], push_[3];
  bool slopes_ = false;
  std::vector<BodyInstant> bodies_;
  enum class Known : char { nothing, place, all };
  std::vector<Known> known_;
};

}  // namespace kinegraph::identify

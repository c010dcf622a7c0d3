#pragma once

#include <cstdint>
#include <string>

namespace kinegraph {

/// Where a variable lives: how many numbers store it, how many directions it can move in, and how it moves.
///
///     real(n)   n stored, n directions     x ⊕ δ = x + δ
///     so2       1 (angle), 1               x ⊕ δ = x + δ; differences are wrapped to [−π, π]
///     so3       4 (unit quaternion w x y z), 3      x ⊕ δ = x exp(δ)
///     se3       7 (quaternion, then position), 6    x ⊕ δ = x exp(δ), δ = (ω, v) seen from the body
class Manifold {
 public:
  enum class Type : std::uint8_t { real, so2, so3, se3 };

  static Manifold real(int size);  ///< throws std::invalid_argument if size < 1
  static Manifold so2() { return {Type::so2, 1, 1}; }
  static Manifold so3() { return {Type::so3, 4, 3}; }
  static Manifold se3() { return {Type::se3, 7, 6}; }

  Type type() const { return type_; }
  int stored() const { return stored_; }
  int tangent() const { return tangent_; }
  bool operator==(const Manifold&) const = default;

  void retract(const double* x, const double* delta, double* result) const;  ///< x ⊕ δ; result may be x
  void local(const double* x, const double* y, double* delta) const;         ///< δ with x ⊕ δ = y

  /// dδ'/dδ at δ for local(x, (y ⊕ δ)): the Jacobian of a difference to a fixed point, tangent × tangent, column-major.
  void local_jacobian(const double* x, const double* y, double* jacobian) const;

  std::string to_string() const;  ///< "R3", "SO3"

 private:
  Manifold(Type type, int stored, int tangent) : type_(type), stored_(stored), tangent_(tangent) {}
  Type type_;
  int stored_, tangent_;
};

}  // namespace kinegraph

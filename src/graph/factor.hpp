#pragma once

#include <span>
#include <string>
#include <vector>

namespace kinegraph {

/// The values that a factor sees: one pointer per slot. A slot is a variable that the factor connects to.
using Slots = std::span<const double* const>;

/// One structurally non-zero entry of a factor's Jacobian. `column` is a tangent direction of the slot's variable.
struct JacobianEntry {
  int row = 0;
  int slot = 0;
  int column = 0;
};

/// A relation between variables: rows() residuals of its slots, with an exact sparse Jacobian. A factor is a pure
/// function: it knows neither the keys it will be bound to nor the time step, so that one object serves every step
/// of a trajectory (Graph::add binds it to keys). Time itself is a slot.
class Factor {
 public:
  virtual ~Factor() = default;
  Factor(const Factor&) = delete;
  Factor& operator=(const Factor&) = delete;

  /// Writes rows() residuals and, unless `jacobian` is null, one value per entry of pattern(), in that order.
  /// The caller owns the buffers. Allocates nothing.
  virtual void evaluate(Slots x, double* residual, double* jacobian) const = 0;

  /// Adds Σᵢ wᵢ ∂²rᵢ/∂δ² to the lower triangle of `hessian`, where δ are the tangent directions of all slots, one slot
  /// after the other (column-major, dense), and returns true; or returns false and leaves it alone: the solver then
  /// takes differences of the Jacobian. Asked for by solvers of second order only.
  virtual bool add_curvature(Slots /*x*/, const double* /*weight*/, double* /*hessian*/) const { return false; }

  /// True if the Jacobian does not depend on x: it is then evaluated once per plan.
  virtual bool constant_jacobian() const { return false; }

  /// True if its rows may come to depend on each other at some poses: geometric constraints at singular positions. They
  /// are eliminated before other rows, so that what becomes undetermined there is the motion across, not a force.
  virtual bool may_lose_rank() const { return false; }

  /// What a row is, for messages: "distance P1-P2".
  virtual std::string row_name(int row) const { return name_ + "[" + std::to_string(row) + "]"; }

  const std::string& name() const { return name_; }
  int rows() const { return rows_; }
  std::span<const int> slot_sizes() const { return slot_sizes_; }  ///< numbers stored per slot
  std::span<const JacobianEntry> pattern() const { return pattern_; }

 protected:
  Factor(std::string name, int rows, std::vector<int> slot_sizes, std::vector<JacobianEntry> pattern)
      : name_(std::move(name)), rows_(rows), slot_sizes_(std::move(slot_sizes)), pattern_(std::move(pattern)) {}

  std::vector<JacobianEntry>& mutable_pattern() { return pattern_; }
  /// The pattern of a dense Jacobian: slot by slot, column by column (column-major), rows innermost.
  static std::vector<JacobianEntry> dense(int rows, const std::vector<int>& tangent_sizes);

 private:
  std::string name_;
  int rows_;
  std::vector<int> slot_sizes_;
  std::vector<JacobianEntry> pattern_;
};

}  // namespace kinegraph

#pragma once

#include <Eigen/QR>
#include <memory>
#include <vector>

#include "kinegraph/mechanics/screw/motion.hpp"
#include "kinegraph/task/loop_system.hpp"

namespace kinegraph::task {

/// The equations Φ(q) = 0 of closed positions, for what follows them. A change δ of q is counted in radians and typical
/// lengths.
class ClosedPositions {
 public:
  virtual ~ClosedPositions() = default;
  virtual int changes() const = 0;             ///< numbers of δ
  virtual double scale(int column) const = 0;  ///< what one of δ is in the units of rates: a typical length, or 1
  virtual bool angle(int column) const = 0;
  /// What rows that are redundant but for the digits of a file may leave open.
  virtual double digits() const = 0;
  /// Φ and, unless null, ∂Φ/∂δ.
  virtual void evaluate(const Eigen::VectorXd& q, Eigen::VectorXd& phi, Eigen::MatrixXd* jacobian) = 0;
  virtual void retract(const Eigen::VectorXd& q, const Eigen::VectorXd& delta, Eigen::VectorXd& out) const = 0;
  virtual void local(const Eigen::VectorXd& q, const Eigen::VectorXd& other, Eigen::VectorXd& delta) const = 0;
  /// γ in J q̈ + γ = Φ̈.
  virtual void curvature(const Eigen::VectorXd& q, const Eigen::VectorXd& v, Eigen::VectorXd& gamma) = 0;
};

/// Those of the loops of a tree.
class TreePositions final : public ClosedPositions {
 public:
  explicit TreePositions(std::shared_ptr<const screw::Tree> tree);
  int changes() const override { return tree_->freedoms(); }
  double scale(int column) const override { return angle(column) ? 1 : system_.length(); }
  bool angle(int column) const override { return !system_.is_length(column); }
  double digits() const override { return screw::kClosureDigits; }
  void evaluate(const Eigen::VectorXd& q, Eigen::VectorXd& phi, Eigen::MatrixXd* jacobian) override;
  void retract(const Eigen::VectorXd& q, const Eigen::VectorXd& delta, Eigen::VectorXd& out) const override;
  void local(const Eigen::VectorXd& q, const Eigen::VectorXd& other, Eigen::VectorXd& delta) const override;
  void curvature(const Eigen::VectorXd& q, const Eigen::VectorXd& v, Eigen::VectorXd& gamma) override;
  const std::vector<int>& tied() const { return system_.columns(); }  ///< the columns that loops tie

 private:
  std::shared_ptr<const screw::Tree> tree_;
  LoopSystem system_;
  screw::Motion still_;  // the equations with the ground at rest and no weight
};

/// Closed positions of which some numbers lead and `following` ones are determined by them, but where the machine is
/// singular. No direction is ever left out as redundant: that is what tells this from LoopCloser.
class BranchFollower {
 public:
  BranchFollower(ClosedPositions& positions, std::vector<int> following)
      : positions_(positions), following_(std::move(following)) {}

  /// Newton steps of what follows, from near by. False: not closed.
  bool correct(Eigen::VectorXd& q);
  /// Looks at a position; what is below is about it.
  void look(const Eigen::VectorXd& q);
  /// The smallest pivot of the equations over the largest: 0 where the leading numbers do not determine the others.
  double margin() const;
  Eigen::Index rows() const { return phi_.size(); }
  /// The column that is determined least.
  int weakest() const;
  /// J v = −γ solved for what follows. Directions whose pivots are below `trust` of the largest stay as they are in v.
  /// In units of rates. False if what leads contradicts the equations.
  bool complete(const Eigen::VectorXd& gamma, double trust, Eigen::VectorXd& v) const;
  /// No singular position lies between the one looked at and another near by:  det(J⁺ J′) > 0.
  bool same_side(const Eigen::VectorXd& other);

  static constexpr double kFarthest = 1000;  ///< that something may be moved at once, in δ: a second's work
  /// Moves what leads by `way` (in δ), in stages through which the branch is kept. Gives the share of the way that it
  /// came, 1 if all. q: where that is. Where branches cross, it goes straight on. Farther than kFarthest: 0.
  double follow(Eigen::VectorXd& q, const Eigen::VectorXd& way);
  bool crossed() const { return crossed_; }  ///< the last follow() went past such a position
  bool lost() const { return lost_; }  ///< it gave up: nothing but the shortest stages went on, one after the other

  /// A direction along which what follows can be moved while it changes Φ least: unit length, in δ.
  Eigen::VectorXd loosest() const;

  /// The farthest that any of what follows is apart, in δ.
  double apart(const Eigen::VectorXd& a, const Eigen::VectorXd& b) const;
  const std::vector<int>& following() const { return following_; }
  void set_following(std::vector<int> columns) { following_ = std::move(columns); }
  ClosedPositions& positions() const { return positions_; }

 private:
  ClosedPositions& positions_;
  std::vector<int> following_;
  Eigen::VectorXd phi_, last_way_, last_rates_;
  bool crossed_ = false, lost_ = false;
  Eigen::MatrixXd jacobian_, other_;
  Eigen::ColPivHouseholderQR<Eigen::MatrixXd> qr_;
};

}  // namespace kinegraph::task

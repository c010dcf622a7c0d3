#pragma once

#include <Eigen/QR>
#include <vector>

#include "kinegraph/task/configuration_space.hpp"

namespace kinegraph::task {

/// Closed positions of a machine followed along: steps along the tangent, each brought back by Newton steps of least
/// norm.
class Continuation {
 public:
  explicit Continuation(ConfigurationSpace& space) : space_(space) {}

  /// From anywhere: damped steps, then Newton's. False: not closed.
  bool close(Eigen::VectorXd& q);
  /// From near by.
  bool correct(Eigen::VectorXd& q);

  /// The rank of ∂Φ and the size of its rows at generic positions: the largest met. Before the first, correct() judges
  /// the rank at each position.
  void meet(const Eigen::VectorXd& q);
  /// The rank at one position.
  int rank_at(const Eigen::VectorXd& q);
  int freedoms() const { return space_.tangent() - rank_; }
  /// At least as mobile as the positions met.
  bool mobile(const Eigen::VectorXd& q) { return rank_at(q) <= rank_; }

  /// An orthonormal basis N of the tangent at a closed q; `margin`: the smallest pivot of ∂Φ over the largest, zero
  /// where the space is singular.
  void tangent(const Eigen::VectorXd& q, Eigen::MatrixXd& N, double* margin = nullptr);

  /// Walks from one closed position straight towards another, in steps of at most `stride`. True if it arrives.
  bool reach(const Eigen::VectorXd& from, const Eigen::VectorXd& to, double stride);
  /// Walks about `length` along a direction; false if it could not.
  bool walk(Eigen::VectorXd& q, Eigen::VectorXd direction, double length, double stride);

  /// det [rows of ∂Φ; tᵀ] at two positions of a curve with tangents t, for the same rows: where its sign changes from
  /// one to the other, another curve crosses in between.
  bool crossing(const Eigen::VectorXd& a, const Eigen::VectorXd& ta, const Eigen::VectorXd& b,
                const Eigen::VectorXd& tb, double& share);

  ConfigurationSpace& space() { return space_; }
  double distance(const Eigen::VectorXd& a, const Eigen::VectorXd& b) {
    space_.local(a, b, way_);
    return way_.norm();
  }

 private:
  void factorise(const Eigen::VectorXd& q);
  int rank() const;

  ConfigurationSpace& space_;
  int rank_ = -1;
  Eigen::VectorXd row_size_, phi_, next_phi_, delta_, trial_, way_, at_;
  Eigen::MatrixXd J_, A_, N_;
  Eigen::ColPivHouseholderQR<Eigen::MatrixXd> qr_;
};

/// A curve of closed positions: all that a machine with one freedom can reach.
struct ConfigurationCurve {
  std::vector<Eigen::VectorXd> q, tangent;
  bool closed = false;                     ///< comes back to its start
  bool whole = true;                       ///< followed to its ends, or so far that it has none
  std::vector<Eigen::VectorXd> crossings;  ///< where other curves meet it, roughly
};

/// Follows the curve through q both ways, past dead centres, until it closes or has gone on for very long.
ConfigurationCurve trace_curve(Continuation& continuation, const Eigen::VectorXd& q, double stride);

}  // namespace kinegraph::task

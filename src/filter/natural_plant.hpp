#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kinegraph/build/independent.hpp"
#include "kinegraph/build/instant.hpp"
#include "kinegraph/filter/natural_packets.hpp"
#include "kinegraph/filter/natural_saddle.hpp"
#include "kinegraph/filter/plant.hpp"
#include "kinegraph/mechanics/natural/system.hpp"
#include "kinegraph/model/model.hpp"

namespace kinegraph::filter {

/// A planar mechanism in natural coordinates, x = (q, v) with n numbers each. What its functions give depends on their
/// arguments alone, bit by bit: not on what the object was asked before.
class NaturalPlant final : public Plant {
 public:
  NaturalPlant(const Model& model, std::shared_ptr<const natural::System> system, const build::Mobility& mobility,
               PlantOptions options);
  std::unique_ptr<Plant> clone() const override { return std::make_unique<NaturalPlant>(*this); }

  const natural::System& system() const { return *system_; }
  const std::string& column_name(int i) const override { return system_->coordinate_name(i); }
  bool circular(int column) const override { return circular_[column]; }

  bool choose(double t, const double* x, Chart& chart) override;
  bool lift(double t, const double* x, const Chart& chart, Eigen::MatrixXd& N, Eigen::MatrixXd& D) override;
  bool retract(double t, const double* x, const Chart& chart, const double* delta, double* out) override;
  void local(const double* x, const Chart& chart, const double* other, double* delta) const override;
  void local_many(const double* x, const Chart& chart, Many many, const double* others, double* delta) const override;
  bool shift(double t, double* x, const double* dq, const double* dv) override;

  bool advance(double t, double h, const double* x, const double* force, double* next) override;
  bool advance(double t, double h, const double* x, const double* force, const Chart& chart, double* next,
               Chart& next_chart, Eigen::MatrixXd& by_state, Eigen::MatrixXd& by_force) override;
  bool noise_directions(double t, const double* x, Eigen::MatrixXd& directions) override;
  void advance_many(double t, double h, int count, int stride, const double* x, const double* force, double* next,
                    bool* good) override;
  void noise_directions_many(double t, int count, int stride, const double* x, double* directions, bool* good) override;
  void kick_many(double t, int count, int stride, double* x, const double* kicks, bool* good) override;
  NaturalPackets& packets() { return *packets_; }
  bool instant(double t, const double* x, const double* force, bool accelerations, const Eigen::MatrixXd* dq,
               const Eigen::MatrixXd* dv, sensor::Instant& out) override;

 private:
  /// The augmented system at a pose.
  struct Pose {
    NaturalSaddle saddle;
    std::vector<double> q;
    bool known = false;  ///< it is factorised at q
    bool is_at(const double* other) const { return known && std::equal(q.begin(), q.end(), other); }
  };
  /// The multipliers of a projection, in sum.
  struct Impulse {
    double *position = nullptr, *velocity = nullptr;
  };

  // natural_plant.cpp: a state and its derivatives
  bool at(Pose& pose, const double* q);
  bool solve_rate(Pose& pose, double t, const double* q, const double* v, const double* force, bool multipliers,
                  double* X);
  void respond(Pose& pose, double t, const double* q, const double* v, const double* a, const double* lambda,
               const double* dq, const double* dv, int width, double* X);
  double miss(const double* rows) const;
  void reserve(int width);

  // natural_plant_chart.cpp: the manifold
  bool fits(const Chart& chart) const;
  void components(const Chart& chart, const double* d, int width, double* out) const;
  bool tangent_here(const Chart& chart);
  bool change_of_tangent(double t, const double* q, const double* v, const Chart& chart);
  bool serves(const Chart& chart) const;
  bool choose_here(double t, const double* q, Chart& chart);
  bool orthonormal_here(double t, const double* q, Chart& chart);
  bool settle(Pose& pose, double t, double* q, double* v, const Chart* held, Impulse impulse);
  bool settle_rate(Pose& pose, double t, double* q, double* v, const Chart* held, double contraction, double* impulse);
  bool settle_again(Pose& pose, const double* q, const Chart* held);
  void correct(Pose& pose, const double* rows, double* x, const Chart* held, double* impulse);
  double farthest(const double* d) const;

  // natural_plant_motion.cpp: the step
  bool stages(double t, double h, const double* x, const double* force, double* next, bool derivatives);
  void differentiate_stage(double t, double h, int stage);
  bool differentiate_end(double h, const Chart& chart, Eigen::MatrixXd& by_state, Eigen::MatrixXd& by_force);

  std::shared_ptr<const natural::System> system_;
  int n_, m_;
  std::vector<char> circular_;
  build::IndependentChoice choice_;
  std::vector<double> length_;             // n: what counts as far for a coordinate
  std::vector<double> sharpness_;          // m: one over the rounding of a row of Φ; 0: redundant
  double size_ = 1;                        // of the mechanism, its place included
  Pose here_, stage_;                      // the state asked about, and that of a stage
  std::optional<NaturalPackets> packets_;  // many states at once

  // work space
  std::vector<double> u_, rhs_, bias_, phi_, rate_, q_, v_;
  std::vector<double> stage_q_, stage_v_, stage_a_;  // stages × n; stage_a_ with the multipliers: stages × (n + m)
  std::vector<double> N_, D_, gram_;                 // n × f, n × f, f × f
  std::vector<double> r_q_, r_v_, acc_q_, acc_v_, r_, hessian_;
  std::vector<double> X_, dq_, dv_, dstage_q_, dstage_v_, dstage_a_, small_;
  std::vector<double> impulse_q_, impulse_v_;
};

}  // namespace kinegraph::filter

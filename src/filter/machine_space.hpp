#pragma once

#include <memory>
#include <string>
#include <vector>

#include "kinegraph/filter/plant.hpp"
#include "kinegraph/filter/state_space.hpp"
#include "kinegraph/mechanics/sensor/observer.hpp"

namespace kinegraph::filter {

class MachineLanes;

struct MachineOptions {
  std::vector<double> density;         ///< of each noise of the plant
  std::vector<UnknownForce> unknowns;  ///< one per force of the plant
};

/// A machine with its sensors as a system to estimate: the plant's state, the sensors' wandering offsets and the
/// unknown forces.
///
///     x = [q v | b | f]      δ = [δz δż | δb | δf]      ḃ, ḟ: random walks
class MachineSpace final : public StateSpace {
 public:
  ~MachineSpace() override;
  /// The observer is shared by all clones: it has no state.
  MachineSpace(std::unique_ptr<Plant> plant, std::shared_ptr<const sensor::Observer> observer, MachineOptions options);
  MachineSpace(const MachineSpace& other);

  std::unique_ptr<StateSpace> clone() const override { return std::make_unique<MachineSpace>(*this); }
  int stored() const override { return plant_->stored() + extras(); }
  int tangent() const override { return plant_->tangent() + extras(); }
  std::string tangent_name(const Chart& chart, int i) const override;

  bool choose(double t, const double* x, Chart& chart) override { return plant_->choose(t, x, chart); }
  bool retract(double t, const double* x, const Chart& chart, const double* delta, double* out) override;
  void local(const double* x, const Chart& chart, const double* other, double* delta) override;
  void local_many(const double* x, const Chart& chart, int count, const double* others, double* delta) override;
  bool transition(double t, const double* x, const Chart& from, const Chart& to, MatrixXd& T) override;

  bool advance(double t, double h, const double* x, double* next) override;
  bool advance(double t, double h, const double* x, const Chart& chart, double* next, Chart& next_chart, MatrixXd& F,
               MatrixXd& Q) override;
  int noises() const override { return 2 * plant_->noises() + static_cast<int>(walking_.size()) + plant_->forces(); }
  bool disturb(double t, double h, double* x, const double* normal) override;
  void advance_many(double t, double h, int count, const double* x, double* next, bool* good) override;
  void disturb_many(double t, double h, int count, double* x, const double* normal, bool* good) override;
  void response_many(double t, double h, int count, const double* x, int sensor, double* y, MatrixXd* B,
                     bool* good) override;
  void retract_many(double t, int count, const Retraction* from, double* out, bool* good) override;
  void predict_many(double t, int count, const double* x, int sensor, double* y, bool* good) override;
  void predict_many(double t, int count, const double* x, const Chart* const* chart, int sensor, double* y, MatrixXd* H,
                    bool* good) override;

  StateLanes* lanes() override;

  const std::vector<SensorInfo>& sensors() const override { return infos_; }
  bool predict(double t, const double* x, int sensor, double* y) override;
  bool predict(double t, const double* x, const Chart& chart, int sensor, double* y, MatrixXd& H) override;
  bool response(double t, double h, const double* x, int sensor, double* y, MatrixXd& B) override;

  // ---- beyond what estimators need ----------------------------------------------------------------------------
  Plant& plant() { return *plant_; }
  const sensor::Observer& observer() const { return *observer_; }
  /// A state from the plant's, offsets and unknown forces zero.
  VectorXd state(const VectorXd& q, const VectorXd& v) const;
  /// Standard deviations of the offsets and unknown forces at the start: extras() numbers.
  VectorXd extra_sd() const;
  int extras() const { return static_cast<int>(biases_.size()) + plant_->forces(); }
  std::string extra_name(int i) const;  ///< "imu.bias.wx", "load.tau"
  /// The machine at x along all directions of δ: first those of the plant's chart, then, with `accelerations`, the
  /// unknown forces'. (Offsets move nothing.)
  bool instant(double t, const double* x, const Chart& chart, bool accelerations, sensor::Instant& out);

 private:
  friend class MachineLanes;
  struct Bias {
    int sensor = 0, row = 0;
    double sd = 0, walk = 0;
  };
  const double* bias(const double* x) const { return x + plant_->stored(); }
  const double* force(const double* x) const { return x + plant_->stored() + biases_.size(); }
  /// instant_ at x, along δ in a chart (null: along nothing), unless it is there already: the sensors that read at one
  /// time share it.
  bool look(double t, const double* x, const Chart* chart, bool accelerations);
  void add_offsets(const double* x, int sensor, double* y) const;
  void scale_rows(int sensor, MatrixXd& derivatives) const;
  bool add_noise(double t, double h, const double* x, const Chart& chart, const double* next, const Chart& next_chart,
                 MatrixXd& Q);
  void add_walks(double h, MatrixXd& Q) const;
  void walk(double h, double* x, const double* normal) const;
  bool respond_by_code(double t, double h, int count, const double* x, int sensor, double* y, MatrixXd* B, bool* good);
  bool respond(double t, double h, const double* x, int sensor, const Eigen::Map<const MatrixXd>& directions, double* y,
               MatrixXd& B);

  std::unique_ptr<Plant> plant_;
  std::shared_ptr<const sensor::Observer> observer_;
  MachineOptions options_;
  std::vector<SensorInfo> infos_;
  std::vector<Bias> biases_;
  std::vector<int> walking_;  // of biases_

  // work space
  sensor::Instant instant_;
  struct Seen {
    bool valid = false, along = false, accelerations = false;
    double t = 0;
    VectorXd x;
    Chart chart;
  } seen_at_;  // what instant_ is
  MatrixXd N_, D_, dq_, dv_, directions_, by_state_, by_force_, seen_, in_chart_, early_, late_;
  VectorXd shift_q_, shift_v_;
  std::vector<double> many_;  // kicks, or directions
  std::unique_ptr<MachineLanes> lanes_;
};

}  // namespace kinegraph::filter

#pragma once

#include <memory>
#include <vector>

#include "kinegraph/graph/noise.hpp"
#include "kinegraph/identify/problem.hpp"
#include "kinegraph/identify/problem_knots.hpp"
#include "kinegraph/identify/problem_rows.hpp"
#include "kinegraph/mechanics/sensor/observer.hpp"

namespace kinegraph::identify {

/// Readings as residuals and rows of least squares.
///
///     r = (scale · h(q(s), v(s), a) + bias − y) / σ
///
/// Angles are compared the shorter way round. Encoders and tachometers of joints are evaluated here, all others by an
/// Observer. Torques and forces through joints are no function of the motion alone: they are left out.
class ReadingRows {
 public:
  ReadingRows(const Model& model, std::shared_ptr<const maximal::Mechanism> mechanism, const Weights& weights);

  void set_machine(const MachinePoint& machine);
  /// Whitened residuals of one reading; returns their cost after the loss. `plain`: not whitened, NaN where nothing is
  /// read. Rows are added to `rows`, if there are any.
  double add(const Reading& reading, Interpolation& at, double* plain, RowBlock* rows);
  double noise(int channel) const { return noise_[channel]; }
  int first_channel(int sensor) const { return sensors_[sensor].channel; }
  int channels() const { return static_cast<int>(noise_.size()); }
  int sensor_of(int channel) const;

 private:
  struct Place {
    enum class Kind { freedom, observed, ignored } kind = Kind::ignored;
    SensorType type = SensorType::encoder;
    int channel = 0, channels = 0;
    // of a freedom: ratio · its number + offset
    int freedom = -1;
    double ratio = 1, offset = 0;
    double turn = 0;  // of an angle: what it may be read modulo
    // seen by the observer
    std::vector<int> bodies;
    std::vector<int> columns;  // parameters that move its frames, or what it calls down
    sensor::Instant instant;
    Eigen::MatrixXd H;
  };
  void find_columns(Place& place) const;
  void read_freedom(const Place& place, Interpolation& at, bool slopes);
  void read_observed(Place& place, int sensor, Interpolation& at, bool slopes);
  void fill_instant(Place& place, Interpolation& at, bool slopes) const;
  void move_by_parameter(Place& place, int direction, int column, Interpolation& at) const;
  template <class T>
  maximal::Row<T> row(const maximal::Freedom& freedom, Interpolation& at, const double* v, T& rate) const;

  std::shared_ptr<const maximal::Mechanism> mechanism_;
  std::vector<Place> sensors_;
  std::vector<double> noise_;
  Loss loss_ = Loss::none();
  const MachinePoint* machine_ = nullptr;
  std::unique_ptr<sensor::Observer> observer_;
  int n_ = 0;
  double value_[6];
  RowBlock slopes_;  // of the reading at hand: ∂h
};

}  // namespace kinegraph::identify

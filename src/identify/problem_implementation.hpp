#pragma once

#include <array>

#include "kinegraph/base/numbers.hpp"
#include "kinegraph/identify/problem.hpp"
#include "kinegraph/identify/problem_kept.hpp"
#include "kinegraph/identify/problem_plane.hpp"
#include "kinegraph/identify/problem_readings.hpp"
#include "kinegraph/identify/problem_start.hpp"
#include "kinegraph/identify/start_response.hpp"

namespace kinegraph::identify {

/// Impulse residuals of one step and their rows; of the readings within it; sums.
struct Problem::Implementation {
  Implementation(const Model& model, std::shared_ptr<const maximal::Mechanism> mechanism, const Run& run,
                 const maximal::Regularization& regularization, const Weights& weights);

  int steps() const { return run.knots() - 1; }
  double length(int k) const { return run.input[k < 0 ? 0 : k].h; }  // knot −1 is a first step's length before 0
  const double* pose(const std::vector<double>& poses, int knot) const {
    return poses.data() + static_cast<std::size_t>(knot + 1) * mechanism->stored();
  }
  void set_machine(const MachinePoint& machine, bool slopes);

  /// Passes all rows to `sink(k, kind, rows)`, k: the first of the three poses that they touch. Without slopes: no
  /// rows. Ends where the cost is above `most`.
  template <class Sink>
  double visit(const std::vector<double>& poses, bool slopes, const Sink& sink, double most = kInfinity);
  /// The same rows as the arrow takes them, `sink(rows)`: on unknown knots alone.
  template <class Sink>
  double visit_unknowns(const std::vector<double>& poses, const Sink& sink);
  /// visit(k, channel, states): the whitened row of every number that was read, on the three poses from k − 1 on.
  template <class Visit>
  void visit_readings(const std::vector<double>& poses, const Visit& visit);
  bool step_residual(const double* q, const KnotPair& before, const KnotPair& after, int k);
  void step_rows(const KnotPair& before, const KnotPair& after, int k);
  /// Whether the lender kept its rows of steps at these poses of this machine.
  bool can_borrow(const std::vector<double>& poses) const;
  bool borrow_step_rows(int k);

  std::shared_ptr<const maximal::Mechanism> mechanism;
  Run run;
  double root_kappa;
  ImpulseWeight weight;
  step::RegularizedStep step;
  ReadingRows readings;
  StartRows start;
  KnotPair pairs[2];
  Interpolation between;
  int n = 0, p = 0;
  std::vector<maximal::Grip> grips;          // per step and freedom: what friction did last
  std::vector<int> first_reading;            // per step, and one more
  std::vector<std::array<double, 6>> plain;  // per reading: residuals, not whitened
  Eigen::MatrixXd impulses;                  // per step: √κ M (v⁺ − φ)
  Eigen::MatrixXd misses;                    // per step: v⁺ − φ of the last evaluation
  std::vector<double> after, change;
  std::vector<double> last;  // poses of the last evaluation
  Eigen::VectorXd numbers;   // and the machine's numbers
  Eigen::MatrixXd directions;
  step::RegularizedStep::Matrix derivative;
  RowBlock rows;
  KeptRows kept;                    // of the last linearisation, …
  std::vector<double> kept_at;      // … at these poses …
  Eigen::VectorXd kept_numbers;     // … of the machine with these numbers …
  Eigen::MatrixXd kept_directions;  // … and these directions
  bool keep = false;
  const Implementation* lender = nullptr;  // of expect_as()
  bool hard = false;
  bool planar = false;
  PlaneHold plane;         // of a planar machine
  StartResponse response;  // of a hard model
  double impulse_cost = 0, reading_cost = 0;
  long reading_rows = 0;
  struct Remembered {
    std::vector<std::array<double, 6>> plain;
    double impulse_cost = 0, reading_cost = 0;
    long reading_rows = 0;
  } remembered;
  int lost_step = -1;     // where there is no step, …
  int lost_reading = -1;  // … or a residual that is not finite
};

}  // namespace kinegraph::identify

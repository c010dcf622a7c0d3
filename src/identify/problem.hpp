#pragma once

#include <memory>
#include <vector>

#include "kinegraph/identify/parameters.hpp"
#include "kinegraph/identify/run.hpp"
#include "kinegraph/linear/arrowhead.hpp"
#include "kinegraph/step/regularized_step.hpp"

namespace kinegraph::identify {

/// How residuals are weighed against each other.
struct Weights {
  double kappa = 100;         ///< of squared impulses [N s] against squared readings over their `noise`
  std::vector<double> noise;  ///< per channel of all sensors in turn; one that is not above zero counts as 1
  std::string loss = "none";  ///< of readings: none | huber | cauchy | tukey, as graph/noise has them
  double loss_scale = 3;      ///< in standard deviations
  bool hard = false;          ///< the motion follows the model exactly, its start alone is unknown: κ is of the start
  double length = 1;          ///< m: a turning impulse [N m s] counts as one at this arm
};

/// The least-squares problem of one run: poses at knots −1 … K, and parameters.
///
///     rₖ = √κ M (vₖ₊₁ − φ(qₖ, vₖ, uₖ; χ)),   vₖ = (qₖ ⊟ qₖ₋₁)/hₖ₋₁           k = 0 … K − 1
///          M: of the model as given, not of χ: else light machines would explain everything
///     readings   (y − scale · h(q(s), v(s), a) − bias) / σ
///     start      distance of q₀ to the constraints, and of v₀ to their tangent     (002, eqs. 3.16, 3.17 corrected)
///
/// All of them touch three successive knots at most. If the model is hard, poses are a replay of it from knots −1 and
/// 0, which are the only unknowns left, and what is minimised is the error of a simulation.
class Problem {
 public:
  Problem(const Model& model, std::shared_ptr<const maximal::Mechanism> mechanism, const Run& run,
          const maximal::Regularization& regularization, const Weights& weights);
  Problem(Problem&&) noexcept;
  Problem& operator=(Problem&&) noexcept;
  ~Problem();

  int knots() const;     ///< that are unknown: K + 2, or 2
  int steps() const;     ///< K
  int unknowns() const;  ///< per knot: 6 per body

  /// Σ squares of all weighed residuals (after the loss). Infinite where a step has no answer.
  double cost(const MachinePoint& machine, const std::vector<double>& poses);
  /// The same up to `most`; where it is more, some number above that: not all steps are looked at.
  double cost_up_to(double most, const MachinePoint& machine, const std::vector<double>& poses);
  /// Whether linearize() keeps its rows: for measure(), which else finds them again, and for expect_as(). `false` frees
  /// those that are kept.
  void keep_rows(bool keep);
  std::size_t row_numbers(int parameters) const;  ///< as many as kept rows take, or a few less
  /// The same, with the normal equations in `arrow`.
  double linearize(const MachinePoint& machine, const std::vector<double>& poses, linear::Arrowhead& arrow);
  /// Adds what the rows say of the parameters, states eliminated: their information, and Σ of the squares of scores of
  /// blocks of `steps` steps. `arrow` has been linearised there, and holds the response of the border.
  void measure(const MachinePoint& machine, const std::vector<double>& poses, const linear::Arrowhead& arrow, int steps,
               Eigen::MatrixXd& information, Eigen::MatrixXd& scatter);
  double step_length() const;  ///< s: mean over the run
  /// How many of the numbers that each channel (of all sensors in turn) read the motion took up: Σ j (H⁻¹) jᵀ over the
  /// channel's whitened rows j, parameters known; estimated, to some √γ. `arrow` has been linearised there and
  /// eliminated, α = 0. Not of a hard model.
  Eigen::VectorXd absorbed(const MachinePoint& machine, const std::vector<double>& poses,
                           const linear::Arrowhead& arrow);
  /// Poses moved by the arrow's steps; if the model is hard, those that follow from the moved start.
  void retract(const MachinePoint& machine, const std::vector<double>& poses, const linear::Arrowhead& arrow,
               std::vector<double>& moved);
  /// Poses that follow from the first two, if the model is hard; NaN from where they are not finite.
  void follow(const MachinePoint& machine, std::vector<double>& poses);

  /// What the rows up to each knot 0 … K − 1 alone tell of the state there, to first order about `poses`: the poses of
  /// the knot before and of its own, one after the other (2 × 7 numbers per body and knot). Readings that were taken
  /// later do not count. Empty where the rows do not tell it. Not of a hard model.
  std::vector<double> filtered(const MachinePoint& machine, const std::vector<double>& poses);

  /// Steps are expected to do what they did in another problem of the same run, which must live as long as this one: a
  /// search for them starts there. Where it kept its rows, at the same poses of the same machine, they are taken from
  /// it. Only weights may differ.
  void expect_as(const Problem& other);

  // ---- of the last cost() or linearize()
  void remember();  ///< the numbers below, for …
  void recall();    ///< … when others were tried in between
  /// Where and why it was infinite: "swing.csv: the model has no step at t = 0.12 s, where theta turns at 310 rad/s".
  std::string fault() const;
  bool is_finite() const;
  double impulse_cost() const;  ///< Σ |M (v⁺ − φ)|², without κ, turning ones over Weights::length
  double reading_cost() const;  ///< Σ of squared readings' residuals, whitened
  long impulse_rows() const;
  long reading_rows() const;
  /// Residuals of one channel (of all sensors in turn), unwhitened, by time; for whiteness and for R.
  std::vector<double> residuals(int channel) const;

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace kinegraph::identify

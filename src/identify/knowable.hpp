#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

namespace kinegraph::identify {

/// What the recordings say of the parameters, to first order at the answer.
struct Evidence {
  Eigen::MatrixXd information;  ///< on the coordinates x: states eliminated, not damped, whitened rows
  Eigen::MatrixXd scatter;      ///< Σ of squared scores, for sandwich deviations; may be empty
  Eigen::VectorXd bias;         ///< of x, by which the answer may be wrong beside all noise; may be empty
  std::vector<std::string> names;
  Eigen::VectorXd values;  ///< of the named quantities
  Eigen::MatrixXd slopes;  ///< ∂ quantities / ∂ x; empty: they are x
  /// A change of each quantity that would matter: its prior range, or its size. Empty or 0: |value|, or 1 if that is 0.
  Eigen::VectorXd scales;
  /// Of quantities that may well be 0, as the parts of a direction are: beside what they are large or small. Empty or
  /// 0: beside themselves.
  Eigen::VectorXd sizes;
};

struct KnowableOptions {
  /// Eigenvalue of the information, scaled to a diagonal of 1, over the largest, below which it is round-off (a Schur
  /// complement is a difference, and keeps ten digits or so), or the error of the rows themselves.
  double least_share = 1e-10;
  /// Deviation in units of the scale beyond which a direction is as good as unseen: not even its order is known.
  double most_deviation = 10;
  double weak = 0.5;         ///< deviation over |value| beyond which a quantity is known weakly
  double correlated = 0.95;  ///< |ρ| of pairs that are listed
  double least_part = 1e-4;  ///< of an unseen direction (in units of the scales) that is named
};

/// What is told of how far a number may be off: few blocks of time tell too little, so that no sandwich makes it less
/// than the linearised deviation.
inline double told_deviation(double linearised, const std::optional<double>& sandwich) {
  return std::max(linearised, sandwich.value_or(linearised));
}

struct KnownQuantity {
  std::string name;
  double value = 0;
  bool identifiable = true;
  bool weak = false;
  std::optional<double> deviation;  ///< linearised: √ of the diagonal of S⁻¹; none if it is not identifiable
  std::optional<double> sandwich;  ///< S⁻¹ scatter S⁻¹: also where residuals are not as white as assumed; and the bias
  double bias = 0;
  std::string remark;  ///< "not seen by the data", "known only in combinations", "weakly known"
};

/// Σ coefficient · quantity, which the data do tell.
struct KnownCombination {
  std::vector<int> quantities;
  std::vector<double> coefficients;
  std::string text;  ///< "A.izz + 0.25 arm.mass"
  double value = 0, deviation = 0;
  std::optional<double> sandwich;
};

/// Quantities that the data cannot tell apart: a connected part of the unseen directions.
struct UnknownGroup {
  std::vector<int> quantities;
  Eigen::MatrixXd directions;           ///< changes of these quantities that are not seen, one column each
  std::vector<KnownCombination> known;  ///< what can be told of them all the same; none of a single one
  std::string text;                     ///< all this as a sentence
};

struct CorrelatedPair {
  int first = 0, second = 0;
  double correlation = 0;
};

struct Knowable {
  std::vector<KnownQuantity> quantities;
  std::vector<UnknownGroup> unknown;
  Eigen::MatrixXd covariance, correlation;  ///< of quantities (linearised); 0 in rows of those not identifiable
  std::vector<CorrelatedPair> correlated;   ///< strongest first
  int rank = 0;                             ///< directions of x that are seen
  bool all_identifiable() const { return unknown.empty(); }
};

/// What can be known. All numbers that come out are finite; if some that go in are not, nothing is identifiable.
Knowable what_is_knowable(const Evidence& evidence, const KnowableOptions& options = {});

/// "0.003120 ± 0.000020": two digits of the deviation, and the value to the same place.
std::string with_deviation(double value, double deviation);

}  // namespace kinegraph::identify

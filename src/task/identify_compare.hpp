#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kinegraph/task/identify_fit.hpp"

namespace kinegraph::task {

/// Friction of joints as terms that are there or not: "viscous", "dry+quadratic", "none". `stribeck` is dry friction
/// that is larger at rest.
struct FrictionChoice {
  std::string name;
  std::vector<std::string> keys;  ///< of kFrictionKeys
};
Result<FrictionChoice> read_friction_choice(const std::string& name);

/// A model with that friction in its joints, and what is free in it: numbers of friction start where the model has
/// them, else small beside the machine's weight. Joints are those whose friction is free; if there are none, all that
/// the file gives friction, of a robot all.
struct FrictionVariant {
  Model model;
  std::vector<identify::FreeParameter> free;
};
Result<FrictionVariant> friction_variant(const Model& model, const std::vector<identify::FreeParameter>& free,
                                         const FrictionChoice& choice);

/// Bayes' information criterion: models with more parameters must be better by more.   n ln(cost / n) + p ln n
double bayes_criterion(double cost, long numbers, int parameters);

struct FrictionComparison {
  std::vector<IdentifySummary::Comparison> rows;
  std::optional<FrictionVariant> best;  ///< by Bayes' criterion; of none that could be fitted: none
};

/// Every form of friction that the options name, fitted and foretold. What is held out are the recordings that the data
/// has for it; if there are none, the second halves of all recordings are foretold by fits to the first.
Result<FrictionComparison> compare_friction(const Model& model, const maximal::Mechanism& mechanism,
                                            const std::vector<Trajectory>& recordings, const FitData& data,
                                            const IdentifyOptions& options, const Progress& progress);

/// Per coordinate of x: whether it is a number of Stribeck's friction alone, τ_s or ω_s of τ_s exp(−(ω/ω_s)²).
std::vector<bool> stribeck_coordinates(const identify::Parameters& parameters);

/// Starts of a search in which Stribeck's friction becomes free, beside x itself: ω_s a share of the joint's fastest
/// motion, a different one in each, and τ_s half of its dry friction. With τ_s = 0 no recording tells of ω_s, and what
/// leads to the best one from afar is not smooth. None where a joint does not rub or does not move.
std::vector<Eigen::VectorXd> stribeck_starts(const identify::Parameters& parameters, const Eigen::VectorXd& x,
                                             const identify::MachinePoint& machine,
                                             const std::vector<identify::Run>& runs,
                                             const std::vector<std::vector<double>>& poses);

}  // namespace kinegraph::task

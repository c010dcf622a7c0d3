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

}  // namespace kinegraph::task

#pragma once

#include <vector>

#include "kinegraph/model/model.hpp"

namespace kinegraph {

/// Every rule that a model must obey beyond being well written. Errors and warnings; none for a sound model. Mobility,
/// redundant constraints and assembly need the equations of motion: see task/check.hpp.
std::vector<Diagnostic> check_model(const Model& model);

/// Those rules that can be judged while some numbers are missing (not a number) or references unresolved (−1).
std::vector<Diagnostic> check_rules(const Model& model);

/// The rules of sensors, disturbances and unknown forces, of planar models and robots: part of check_model and
/// check_rules.
std::vector<Diagnostic> check_sensors(const Model& model);

/// The physical rules of a spatial model, one place for all file formats. Errors: numbers that are not finite, negative
/// mass, an inertia with a negative eigenvalue beyond rounding, limits out of order. Warnings, or errors if `strict`:
/// the triangle inequality of the principal inertias, which many published robots break. At most one diagnostic per
/// kind of warning, with a count; every error. They stand where the link's inertia or the joint does.
std::vector<Diagnostic> check_robot(const Robot& robot, bool strict);

}  // namespace kinegraph

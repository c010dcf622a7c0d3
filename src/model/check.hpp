#pragma once

#include <vector>

#include "kinegraph/model/model.hpp"

namespace kinegraph {

/// Every rule that a model must obey beyond being well written. Errors and warnings; none for a sound model. Mobility,
/// redundant constraints and assembly need the equations of motion: see task/check.hpp.
std::vector<Diagnostic> check_model(const Model& model);

/// Those rules that can be judged while some numbers are missing (not a number) or references unresolved (−1).
std::vector<Diagnostic> check_rules(const Model& model);

}  // namespace kinegraph

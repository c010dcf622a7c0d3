#pragma once

#include <string>
#include <vector>

#include "kinegraph/build/screw_problem.hpp"
#include "kinegraph/graph/key.hpp"

namespace kinegraph::report {

/// A symbol with its index: V̇ and 3.
struct Label {
  std::string symbol, index;

  std::string text() const;         ///< "V̇3"
  std::string subscripted() const;  ///< "V̇₃"
};

Label label(const build::ScrewProblem::Variable& variable);  ///< τ₁, θ̈₂, F₃, V̇₃
Label label(const Key& key);                                 ///< q₂, q̇₂, λ₁, z̈₀

/// How wide it is when drawn, about, in units of the font's size.
double width(const Label& label);
double width(const std::string& text);

}  // namespace kinegraph::report

#pragma once

#include <optional>

#include "kinegraph/task/plan.hpp"

namespace kinegraph::task {

/// Next to a plan whose roll-out (`result`) misses a goal, the motion that the roll-out follows. A rule of collocation
/// misses by a little in every step, and an open loop lets that grow; here the steps are those of the roll-out itself,
///
///     min ‖x − x(plan)‖² + ‖u − u(plan)‖²   with   xₖ₊₁ = Φₖ(xₖ, uₖ, uₖ₊₁),  goals and limits
///
/// by Newton's method on Φ: multiple shooting. The result's summary then tells of that motion. Empty, and the result as
/// it was: nothing is missed, or there is no such motion that keeps the limits.
Result<std::optional<build::PlanProblem>> follow(const build::PlanProblem& plan, const build::PlanSetting& asked,
                                                 const PlanOptions& options, PlanResult& result);

}  // namespace kinegraph::task

#include "kinegraph/task/graph_chain.hpp"

#include "kinegraph/build/natural_chain.hpp"
#include "kinegraph/model/friction_support.hpp"
#include "kinegraph/task/start.hpp"

namespace kinegraph::task {

Result<std::shared_ptr<const Chain>> motion_chain(const Model& model, const std::string& formulation,
                                                  const std::string& integrator) {
  if (auto known = natural_friction(model); !known) return known.failure();
  const Result<Start> start = make_start(model);
  if (!start) return start.failure();
  build::NaturalOptions options;
  options.integrator = integrator == "euler"         ? build::Integrator::euler
                       : integrator == "trapezoidal" ? build::Integrator::trapezoidal
                                                     : build::Integrator::hermite_simpson;
  options.redundant = start->mobility.redundant;
  if (formulation == "independent") {
    options.formulation = build::Formulation::independent;
    options.independent = start->mobility.independent;
  }
  return build::natural_chain(start->system, options).chain;
}

}  // namespace kinegraph::task

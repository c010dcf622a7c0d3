#include "kinegraph/solve/covariance.hpp"

#include <fmt/format.h>

#include "kinegraph/solve/diagnose.hpp"

namespace kinegraph {

Result<Covariances> Covariances::make(const Graph& graph, const Values& values, const OrderingOptions& ordering) {
  Covariances c;
  c.values_ = std::make_unique<Values>(values);
  auto linearization = Linearization::make(graph, *c.values_);
  if (!linearization) return std::move(linearization).failure();
  c.structure_ = linearization->structure();
  Eigen::VectorXd hard;
  const Evaluation evaluation = linearization->linearize(hard);
  if (!evaluation.finite()) return Failure::no_answer(linearization->describe_fault(evaluation));

  const Eigen::VectorXd damping = Eigen::VectorXd::Zero(linearization->unknowns());
  Eigen::VectorXd compliance = Eigen::VectorXd::Zero(linearization->hard_rows());
  auto system = KktSystem::make(*linearization, ordering, damping, compliance);
  if (!system) return std::move(system).failure();
  c.system_ = std::make_unique<KktSystem>(*std::move(system));
  if (!c.system_->factor(*linearization, damping, compliance)) {
    // Redundant hard rows leave the variables determined and only their multipliers free; a compliance far below every
    // variance holds those.
    const Diagnosis diagnosis = diagnose(*linearization);
    if (!diagnosis.determined()) return Failure::no_answer(diagnosis.to_string());
    linearization->linearize(hard);
    for (const auto& e : linearization->hard_entries()) {
      const double curvature = linearization->matrix()[linearization->diagonal()[e.column]];
      const double entry = linearization->matrix()[e.place];
      compliance[e.row] = std::max(compliance[e.row], 1e-13 * entry * entry / (curvature > 0 ? curvature : 1));
    }
    if (!c.system_->factor(*linearization, damping, compliance)) return Failure::no_answer(diagnosis.to_string());
  }
  c.marginals_ = std::make_unique<linear::Marginals>(c.system_->elimination());
  return c;
}

Result<Eigen::MatrixXd> Covariances::covariance(const Key& key) { return joint({key}); }

Result<Eigen::MatrixXd> Covariances::joint(const std::vector<Key>& keys) {
  std::vector<int> rows;
  for (const Key& key : keys) {
    const int i = values_->find(key);
    if (i < 0 || structure_.variable[i] < 0) {
      return Failure::bad_input(fmt::format("{} is not an unknown of the graph", to_string(key)));
    }
    for (int k = 0; k < values_->manifold(i).tangent(); ++k) rows.push_back(structure_.variable[i] + k);
  }
  return marginals_->covariance(rows);
}

}  // namespace kinegraph

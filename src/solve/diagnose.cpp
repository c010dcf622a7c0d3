#include "kinegraph/solve/diagnose.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <random>

#include "kinegraph/linear/rank.hpp"

namespace kinegraph {
namespace {

using linear::RankPose;

std::string list(const std::vector<std::string>& all, std::size_t most = 5) {
  std::string text;
  for (std::size_t i = 0; i < std::min(most, all.size()); ++i) {
    if (i > 0) text += ", ";
    text += all[i];
  }
  if (all.size() > most) text += fmt::format(" and {} more", all.size() - most);
  return text;
}

RankPose pose(const Linearization& l, bool with_costs) {
  Linearization::Rows rows = l.rows(Role::equality);
  if (with_costs) {
    const Linearization::Rows costs = l.rows(Role::cost);
    for (int r = 0; r < costs.matrix.rows(); ++r) {
      for (int k = 0; k < costs.matrix.size_of(r); ++k) {
        rows.matrix.push(costs.matrix.columns_of(r)[k], costs.matrix.values_of(r)[k]);
      }
      rows.matrix.end_row();
    }
    rows.residual.clear();
  }
  return {std::move(rows.matrix), std::move(rows.residual)};
}

/// The present values, and up to two places nearby, drawn anew but always the same.
void collect_poses(Linearization& l, std::vector<RankPose>& hard, std::vector<RankPose>& all) {
  Values& values = l.values();
  const std::vector<double> saved(values.buffer().begin(), values.buffer().end());
  std::mt19937 engine(1);
  std::uniform_real_distribution<double> uniform(-1, 1);
  Eigen::VectorXd delta(l.unknowns()), residual;
  for (int k = 0; k < 3; ++k) {
    if (k > 0) {
      for (int column = 0; column < l.unknowns(); ++column) {
        const double* x = values.data(l.structure().columns[column]);
        const bool real = values.manifold(l.structure().columns[column]).type() == Manifold::Type::real;
        const double size = real ? std::abs(x[column - l.structure().variable[l.structure().columns[column]]]) : 0;
        delta[column] = 1e-2 * (1 + size) * uniform(engine);
      }
      values.retract(delta, l.structure().variable);
    }
    if (l.linearize(residual).finite()) {
      hard.push_back(pose(l, false));
      all.push_back(pose(l, true));
    }
    std::copy(saved.begin(), saved.end(), values.buffer().begin());
  }
}

/// "q3[1] (in distance P1-P2, prior)"; the whole variable under one name if all of it is free.
std::vector<std::string> name_columns(const Linearization& l, const std::vector<int>& columns) {
  const Structure& s = l.structure();
  std::vector<std::string> names;
  for (std::size_t i = 0; i < columns.size();) {
    const int variable = s.columns[columns[i]];
    std::size_t end = i;
    while (end < columns.size() && s.columns[columns[end]] == variable) ++end;
    const Key& key = l.values().key(variable);
    std::vector<std::string> factors;
    for (const BoundFactor& f : l.graph().factors()) {
      if (std::find(f.keys.begin(), f.keys.end(), key) != f.keys.end()) factors.push_back(f.factor->name());
    }
    factors.erase(std::unique(factors.begin(), factors.end()), factors.end());
    const bool whole = static_cast<int>(end - i) == l.values().manifold(variable).tangent();
    for (std::size_t k = i; k < (whole ? i + 1 : end); ++k) {
      names.push_back(
          fmt::format("{} (in {})", whole ? kinegraph::to_string(key) : l.column_name(columns[k]), list(factors, 3)));
    }
    i = end;
  }
  return names;
}

}  // namespace

std::string Diagnosis::to_string() const {
  std::string text = fmt::format("{}, rank {}", counts, rank);
  const char* separator = ": ";
  const auto add = [&](const std::string& part) {
    text += separator;
    text += part;
    separator = "; ";
  };
  if (!undetermined.empty()) add("nothing determines " + list(undetermined));
  if (singular_here) add("some equations depend on each other at this position only");
  if (!contradictory.empty()) add(list(contradictory));
  if (!redundant.empty())
    add(list(redundant) + (redundant.size() == 1 ? " follows" : " follow") + " from other hard rows");
  return text;
}

Diagnosis diagnose(Linearization& l) {
  Diagnosis d;
  d.counts = l.structure().counts();
  d.unknowns = l.unknowns();
  std::vector<RankPose> hard, all;
  collect_poses(l, hard, all);
  if (all.empty()) return d;
  const linear::RankReport overall = linear::rank(all);
  d.rank = overall.rank;
  d.singular_here = overall.singular_here();
  d.undetermined = name_columns(l, overall.undetermined);
  if (l.hard_rows() == 0) return d;
  const linear::RankReport rows = linear::rank(hard);
  d.singular_here |= rows.singular_here();
  for (const linear::RedundantRow& r : rows.redundant) {
    const std::string name = fmt::format("'{}'", l.hard_row_name(r.row));
    // Away from the present values rows disagree by their curvature: only there does a mismatch mean something.
    if (r.consistent || rows.pose != 0) {
      d.redundant.push_back(name);
    } else {
      d.contradictory.push_back(fmt::format("{} contradicts '{}' by {:.3g}", name,
                                            r.follows_from.empty() ? "0 = 0" : l.hard_row_name(r.follows_from.front()),
                                            r.mismatch));
    }
  }
  return d;
}

Result<Diagnosis> diagnose(const Graph& graph, const Values& values) {
  Values copy = values;
  auto linearization = Linearization::make(graph, copy);
  if (!linearization) return std::move(linearization).failure();
  return diagnose(*linearization);
}

}  // namespace kinegraph

#include "kinegraph/solve/fixed_lag.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace kinegraph {
namespace {

void append(const Graph& from, const std::vector<int>& skip, Graph& to) {
  for (int f = 0; f < from.size(); ++f) {
    if (std::binary_search(skip.begin(), skip.end(), f)) continue;
    const BoundFactor& bound = from[f];
    to.add(bound.factor, bound.keys, bound.role, bound.noise, bound.loss);
  }
}

void append(const Values& from, Values& to, int oldest) {
  for (int i = 0; i < from.count(); ++i) {
    const Key& key = from.key(i);
    if (to.contains(key) || (key.step >= 0 && key.step < oldest)) continue;
    to.insert(key, from.manifold(i), {from.data(i), static_cast<std::size_t>(from.manifold(i).stored())});
  }
}

}  // namespace

std::vector<Diagnostic> FixedLagOptions::check() const {
  std::vector<Diagnostic> faults = optimizer.check();
  if (lag < 0) faults.push_back({Severity::error, {}, fmt::format("lag: must be >= 0, is {}", lag)});
  return faults;
}

Result<Report> FixedLag::update(const Graph& factors, const Values& initial) {
  if (auto faults = options_.check(); !faults.empty()) return Failure{Failure::Kind::bad_input, std::move(faults)};
  Graph graph;
  append(graph_, {}, graph);
  append(factors, {}, graph);
  Values values = values_;
  append(initial, values, 0);
  int newest = newest_;
  for (int i = 0; i < values.count(); ++i) {
    const Key& key = values.key(i);
    newest = std::max(newest, key.step);
    if (graph_.known().contains(key) || factors.known().contains(key)) graph.known().insert(key);
  }
  return absorb(std::move(graph), std::move(values), newest);
}

Result<Report> FixedLag::absorb(Graph graph, Values values, int newest) {
  Result<Report> report = optimize(graph, values, options_.optimizer);
  if (!report) return report;
  const int oldest = newest - options_.lag;
  std::vector<Key> old;
  for (int i = 0; i < values.count(); ++i) {
    if (values.key(i).step >= 0 && values.key(i).step < oldest) old.push_back(values.key(i));
  }
  // Where the window could not be solved its linearisation means nothing: it is kept for the caller to look at.
  if (!report->converged() || old.empty()) {
    graph_ = std::move(graph), values_ = std::move(values), newest_ = newest;
    return report;
  }
  Result<Marginalisation> past = marginalise(graph, values, old);
  if (!past) return std::move(past).failure();
  Graph window;
  append(graph, past->used, window);
  if (past->soft) window.add(past->soft, past->keys, Role::cost);
  if (past->hard) window.add(past->hard, past->keys, Role::equality);
  Values rest;
  append(values, rest, oldest);
  for (int i = 0; i < rest.count(); ++i) {
    if (graph.known().contains(rest.key(i))) window.known().insert(rest.key(i));
  }
  graph_ = std::move(window), values_ = std::move(rest), newest_ = newest;
  return report;
}

Result<Eigen::MatrixXd> FixedLag::covariance(const Key& key) const {
  auto covariances = Covariances::make(graph_, values_, options_.optimizer.ordering);
  if (!covariances) return std::move(covariances).failure();
  return covariances->covariance(key);
}

}  // namespace kinegraph

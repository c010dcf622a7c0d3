#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kinegraph/filter/particle_filter.hpp"
#include "kinegraph/task/branches.hpp"
#include "kinegraph/task/estimate.hpp"

namespace kinegraph::task {

/// Standard deviations of the start where none are given: rad or m, rates per second.
inline constexpr double kStartSd = 0.1, kStartRateSd = 1;

/// What may be believed of the start, in hypotheses or in particles.
class EstimateStart {
 public:
  /// At time t. Refused: names of --start-sd that are no numbers of the state, or that an unknown start leaves open;
  /// an unknown start where that would be too many hypotheses.
  static Result<EstimateStart> make(Machine& machine, double t, const EstimateOptions& options);

  bool unknown() const { return unknown_; }
  /// Hypotheses of an unknown start three times as dense, in place and in rate.
  void refine() { finer_ = 3; }
  int branches() const { return branches_ ? branches_->count() : 1; }
  const std::vector<std::string>& branch_names() const { return names_; }

  /// The file's start, or one belief for each branch and place where the machine may be; all as probable.
  Result<std::vector<filter::Belief>> beliefs() const;
  /// About as many as asked for, as many of each branch.
  Result<std::vector<filter::Particle>> particles(int count) const;
  /// An unknown start of a particle filter in cells, about `count` or as many as tell places apart: see
  /// filter/cell_particles.hpp. Empty: the start is told, or has so many freedoms that cells would be few and wide.
  Result<std::vector<filter::Belief>> cells(int count) const;
  /// The file's start alone.
  Result<filter::Belief> file() const;

 private:
  EstimateStart(Machine& machine, double t, const EstimateOptions& options)
      : machine_(machine), t_(t), options_(options) {}
  Failure check_known() const;
  Result<std::monostate> prepare();
  Result<filter::Belief> about(Eigen::VectorXd x, const Eigen::VectorXd& place_sd, double rate_sd, int branch) const;
  Result<std::vector<filter::Belief>> other_branches(filter::Belief file) const;
  Result<std::vector<filter::Belief>> everywhere(int each, double rate_sd) const;
  double speed_sd() const;
  std::vector<Eigen::VectorXd> with_rates(const Eigen::VectorXd& x, double rate_sd) const;
  Eigen::VectorXd spacing(const std::vector<Configuration>& places, int branch, int count) const;

  Machine& machine_;
  double t_;
  const EstimateOptions& options_;
  bool unknown_ = false;
  int finer_ = 1;
  std::optional<Branches> branches_;  // none: only that of the file
  std::vector<std::string> names_;
};

/// The numbers that --start-sd may name: theta.q, theta.v, offsets, unknown forces.
std::vector<std::string> start_numbers(const Machine& machine);

}  // namespace kinegraph::task

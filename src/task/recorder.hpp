#pragma once

#include <memory>
#include <string>
#include <vector>

#include "kinegraph/mechanics/natural/reactions.hpp"
#include "kinegraph/mechanics/natural/system.hpp"

namespace kinegraph::task {

/// The series that a planar motion is written as, and one sample of them.
class Recorder {
 public:
  Recorder(const Model& model, std::shared_ptr<const natural::System> system, bool reactions);

  const std::vector<std::string>& names() const { return names_; }
  /// One row, good until the next call.
  const double* row(const double* q, const double* v, const double* a, const double* lambda, const double* u, double t);

 private:
  std::shared_ptr<const natural::System> system_;
  std::unique_ptr<natural::Reactions> reactions_;
  int relative_;
  std::vector<std::string> names_;
  std::vector<double> row_;
};

}  // namespace kinegraph::task

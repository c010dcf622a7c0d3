#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kinegraph/base/result.hpp"
#include "kinegraph/model/model.hpp"

namespace kinegraph::task {

struct BranchOptions {
  std::uint64_t seed = 0;
  bool screw = false;      ///< planar models in joint coordinates; robots always are
  std::string coordinate;  ///< over which samples are spread: "theta", "elbow"; empty: the first independent one
};

/// A position and the branch that it belongs to.
struct Configuration {
  Eigen::VectorXd q;
  int branch = 0;
  int arc = 0;  ///< smooth part of the branch, counted over all branches; differs where parts meet (`meeting`)
};

/// The assembly branches of a machine: what it cannot leave without being taken apart, the connected components of its
/// configuration space. Limits of joints and bodies in each other's way are not looked at.
class Branches {
 public:
  struct Implementation;
  explicit Branches(std::shared_ptr<Implementation> self) : self_(std::move(self)) {}

  int count() const;
  int freedoms() const;  ///< of the machine without its drivers
  bool certain() const;  ///< false: with several freedoms, branches that were found apart may be joined
  bool meeting() const;  ///< branches have parts that meet at singular positions, as those of a parallelogram
  int arcs() const;      ///< smooth parts
  /// What tells each branch apart: "A-P2-D turns left"; "" where there is one, "branch 2" where no sign tells.
  const std::vector<std::string>& names() const;

  /// The branch of a closed position. Not by two threads at once.
  int branch_of(const Eigen::VectorXd& q) const;
  /// n closed positions of each branch, spread evenly over the independent coordinate (more freedoms: at random); at
  /// t = 0 if the machine is driven. A branch in which the machine cannot be at that time has none. The same for the
  /// same seed.
  std::vector<Configuration> samples(int n) const;

 private:
  std::shared_ptr<Implementation> self_;
};

/// Searches for the branches. The model's own start is in branch 0.
Result<Branches> find_branches(const Model& model, const BranchOptions& options = {});

}  // namespace kinegraph::task

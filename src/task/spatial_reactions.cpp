#include "kinegraph/task/spatial_reactions.hpp"

#include <algorithm>

#include "kinegraph/task/spatial_columns.hpp"

namespace kinegraph::task {

SpatialReactions::SpatialReactions(std::shared_ptr<const screw::Tree> tree) : tree_(std::move(tree)) {
  const Robot& robot = tree_->robot();
  const int bodies = static_cast<int>(tree_->bodies().size());
  const auto body_of = [&](LinkIndex link) { return link.valid() ? tree_->links()[link.value].body : -1; };
  const auto add = [&](const std::string& joint, const Reaction& reaction) {
    const std::vector<std::string> names = wrench_names(joint + ".reaction");
    names_.insert(names_.end(), names.begin(), names.end());
    reactions_.push_back(reaction);
  };
  for (std::size_t j = 0; j < robot.joints.size(); ++j) {
    const Joint& joint = robot.joints[j];
    const auto loop = std::find_if(tree_->loops().begin(), tree_->loops().end(),
                                   [&](const screw::Loop& l) { return l.joint == static_cast<int>(j); });
    if (loop != tree_->loops().end()) {
      add(joint.name, {bodies + static_cast<int>(loop - tree_->loops().begin()), 1, loop->b, loop->X_BM});
      continue;
    }
    const int parent = body_of(joint.parent), child = body_of(joint.child);
    if (parent == child) continue;  // welded
    const bool forward = child >= 0 && tree_->bodies()[child].parent == parent;
    const int body = forward ? child : parent;
    add(joint.name, {body, forward ? 1.0 : -1.0, body, {}});
  }
}

void SpatialReactions::write(const build::Dynamics& dynamics, const screw::Poses& poses, double* row) const {
  for (const Reaction& reaction : reactions_) {
    const screw::Vector6d wrench = dynamics.wrench(reaction.wrench);
    row = write(reaction, wrench, reaction.body < 0 ? Eigen::Matrix3d::Identity() : poses[reaction.body].R, row);
  }
}

void SpatialReactions::write(const Eigen::VectorXd& wrenches, const std::function<Eigen::Matrix3d(int)>& axes,
                             double* row) const {
  for (const Reaction& reaction : reactions_) {
    const screw::Vector6d wrench = wrenches.segment<6>(6 * reaction.wrench);
    row = write(reaction, wrench, reaction.body < 0 ? Eigen::Matrix3d::Identity() : axes(reaction.body), row);
  }
}

double* SpatialReactions::write(const Reaction& reaction, const screw::Vector6d& wrench, const Eigen::Matrix3d& body,
                                double* row) {
  const Eigen::Matrix3d R = body * reaction.X_BM.R;
  Eigen::Map<Eigen::Vector3d>(row).noalias() = reaction.sign * (R * wrench.head<3>());
  Eigen::Map<Eigen::Vector3d>(row + 3).noalias() = reaction.sign * (R * wrench.tail<3>());
  return row + 6;
}

}  // namespace kinegraph::task

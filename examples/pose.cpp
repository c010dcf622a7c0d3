// The twin of pose.py. Geometry is known. Where can the machine be? All ways to assemble it, and a tool at a place.
#include "answer.hpp"
#include "kinegraph/io/model_file.hpp"
#include "kinegraph/task/kinematics.hpp"
#include "kinegraph/task/spatial_kinematics.hpp"

int main() {
  kinegraph::task::KinematicsOptions all;
  all.branches = true;
  const auto branches = answer(kinegraph::task::kinematics(answer(kinegraph::read_model("models/fourbar.yaml")), all));
  std::printf("%d branches, P2.y:", branches.trajectory.samples());
  for (const double y : branches.trajectory.column(branches.trajectory.find("P2.y"))) std::printf(" %.3f", y);

  kinegraph::task::FrameGoal tool;
  tool.frame = "tool";
  tool.pose.X_WG.p = {0.4, 0.1, 0.6};
  kinegraph::task::SpatialKinematicsOptions reach;
  reach.goals = {tool};
  const auto arm =
      answer(kinegraph::task::spatial_kinematics(answer(kinegraph::read_model("models/arm7.urdf")), reach));
  std::printf("\njoints:");
  for (int i = 0; i < 7; ++i) std::printf(" %.3f", arm.trajectory.at(0, i));
  std::printf("\n");
}

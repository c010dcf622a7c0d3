#include "kinegraph/codegen/joint_terms.hpp"
#include "kinegraph/codegen/minimal_tree.hpp"
#include "kinegraph/codegen/program.hpp"

namespace kinegraph::codegen {
namespace {

struct Pose {
  Matrix3s R = Matrix3s::Identity();
  Vector3s p = Vector3s::Zero();
  Pose times(const Matrix3s& rotation, const Vector3s& position) const {
    return {Matrix3s(R * rotation), Vector3s(p + R * position)};
  }
  Pose times(const screw::Transform<double>& X) const { return times(X.R.cast<Scalar>(), X.p.cast<Scalar>()); }
};

}  // namespace

Program trace_kinematics(std::shared_ptr<const screw::Tree> tree) {
  Program program;
  program.graph = std::make_shared<ExpressionGraph>();
  program.purpose = "poses of all links from positions";
  ExpressionGraph& graph = *program.graph;
  Array q{"q", "positions", tree->position_names(), {}};
  std::vector<Scalar> position;
  for (int k = 0; k < tree->stored(); ++k) {
    q.values.push_back(graph.input(-3, 3));
    position.emplace_back(graph, q.values.back());
  }
  program.inputs.push_back(std::move(q));

  const MinimalTree minimal(tree);
  const std::vector<Scalar> still(tree->freedoms(), Scalar(0));
  std::vector<Pose> bodies;
  for (const MinimalTree::Body& body : minimal.bodies) {
    const JointTerms joint = joint_terms(body.joint, position.data(), still.data());
    const Pose parent = body.parent < 0 ? Pose{} : bodies[body.parent];
    bodies.push_back(parent.times(body.X_PF).times(joint.R, joint.p));
  }
  Array poses{"out", "of each link R_WL, row by row, then p_WL: 12 numbers", {}, {}};
  for (std::size_t l = 0; l < tree->links().size(); ++l) {
    const screw::LinkPlace& place = tree->links()[l];
    Pose pose;
    if (place.body < 0) {
      pose = pose.times(place.X_BL);
    } else {
      pose = bodies[place.body].times(minimal.bodies[place.body].X_BN.inverse() * place.X_BL);
    }
    for (int k = 0; k < 9; ++k) poses.values.push_back(pose.R(k / 3, k % 3).in(graph));
    for (int k = 0; k < 3; ++k) poses.values.push_back(pose.p[k].in(graph));
    poses.labels.push_back(tree->robot().links[l].name);
  }
  program.outputs.push_back(std::move(poses));
  program.pivot = graph.one();
  return program;
}

}  // namespace kinegraph::codegen

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kinegraph/mechanics/maximal/touch.hpp"

namespace kinegraph::maximal {

/// Two bodies that touch, or soon will.
struct Contact {
  Feature feature;
  Touch<double> touch;
  double friction = 0, restitution = 0;  ///< geometric mean and larger one of the two surfaces
  std::uint64_t key = 0;                 ///< the same for the same parts in the next step

  int a() const { return feature.a; }
  int b() const { return feature.b; }
};

/// Finds contacts between the collision shapes of links on different bodies: planes with balls, boxes (corners),
/// capsules (the balls at their ends), cylinders (rims), ellipsoids; balls and capsules' ends with each other and with
/// boxes; boxes with boxes (corners on faces, crossing edges). Bodies that a joint ties to each other do not touch.
class ContactFinder {
 public:
  explicit ContactFinder(const Mechanism& mechanism);

  bool empty() const { return pairs_.empty(); }
  /// Pairs of shapes that pass through each other because nothing is known about them: "arm and table".
  const std::vector<std::string>& ignored() const { return ignored_; }

  /// Contacts at q that are closer than 1 % of the shapes' size plus `reach`. In the same order for the same q.
  void find(const Eigen::VectorXd& numbers, const double* q, double reach, std::vector<Contact>& contacts);

  /// Of the last find().
  const std::vector<Pose<double>>& poses() const { return poses_; }
  double bound(int body) const { return bounds_[body]; }  ///< of its shapes, from the origin of its frame

 private:
  struct Solid {
    Shape::Type type;
    int body = -1;
    Eigen::Vector3d centre, size;  // in the body's frame; half edges, radii, radius and half length, normal
    Eigen::Matrix3d axes;
    double friction, restitution;
    double bound;  // about the centre
    std::string link;
  };
  struct Pair {
    int first, second;  // solids; the first is the plane, the box, …
  };
  struct Ball {
    Eigen::Vector3d centre;
    double radius;
  };
  struct Search;

  void add_solids(const Mechanism& mechanism);
  void add_pairs(const Mechanism& mechanism);
  bool known(const Solid& a, const Solid& b) const;
  static int balls(const Solid& solid, Ball* out);
  void plane_contacts(Search& search) const;
  void ball_ball_contacts(Search& search) const;
  void ball_box_contacts(Search& search) const;
  void box_box_contacts(Search& search) const;
  void corners_on_faces(Search& search, const Solid& corners, const Solid& faces, int first) const;
  void crossing_edges(Search& search) const;
  void cross_edges(Search& search, int i, int e, int j, int f, double turn) const;

  std::vector<int> com_;  // where the centres of mass stand among the numbers
  std::vector<Solid> solids_;
  std::vector<Pair> pairs_;
  std::vector<std::string> ignored_;
  std::vector<double> bounds_;
  std::vector<Pose<double>> poses_;
};

}  // namespace kinegraph::maximal

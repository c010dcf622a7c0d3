#pragma once

#include <memory>
#include <string>
#include <vector>

// Other programs for the same problem, measured beside ours in one run. Plain numbers only: a peer may be compiled with
// other flags than we are, and library types (Eigen's) could then be laid out differently.
namespace kinegraph::bench {

struct PeerFrame {
  double R[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};  // row by row
  double p[3] = {0, 0, 0};
};

/// A body, in the frame of its joint, which turns about z or slides along it.
struct PeerBody {
  int parent = -1;  // −1: the ground
  bool slides = false;
  bool floats = false;  // moves any way: only the first body; q, v and answers are then laid out as the peer has them
  PeerFrame in_parent;  // of the joint at zero
  double mass = 0, com[3] = {0, 0, 0}, inertia[9] = {0, 0, 0, 0, 0, 0, 0, 0, 0};  // about the centre of mass
  double armature = 0;
};

/// Two points that coincide: what of a hinge that closes a planar loop is left to be said.
struct PeerLoop {
  int a = -1, b = -1;
  PeerFrame in_a, in_b;
};

struct PeerRobot {
  std::vector<PeerBody> bodies;  // number i has number i of q, v, a and τ (behind a floating one); parents first
  std::vector<PeerLoop> loops;
  double gravity[3] = {0, 0, -9.81};
};

/// Answers stay valid until the next call.
class Peer {
 public:
  virtual ~Peer() = default;
  virtual const double* inverse(const double* q, const double* v, const double* a) = 0;
  virtual const double* forward(const double* q, const double* v, const double* tau) = 0;
  /// Forward dynamics with the loops closed; null if the peer has none.
  virtual const double* forward_closed(const double*, const double*, const double*) { return nullptr; }
  /// M(q), its upper triangle, column by column; null if the peer has none of its own.
  virtual const double* mass_matrix(const double*) { return nullptr; }
  /// ∂τ/∂q, row by row; ∂τ/∂v and ∂τ/∂a = M are computed too.
  virtual const double* inverse_derivatives(const double*, const double*, const double*) { return nullptr; }
  /// ∂a/∂q, row by row; ∂a/∂v and ∂a/∂τ are computed too.
  virtual const double* forward_derivatives(const double*, const double*, const double*) { return nullptr; }
  /// Of the last of these two: by v, row by row, and by a or τ, of which only the upper triangle, row by row, need be
  /// there.
  struct Others {
    const double *by_v = nullptr, *by_given = nullptr;
  };
  virtual Others other_derivatives() { return {}; }
};

struct Contestant {
  std::string name;
  std::unique_ptr<Peer> peer;
};

/// All peers that were built in. Empty without -DKINEGRAPH_PEERS.
std::vector<Contestant> peers(const PeerRobot& robot);

}  // namespace kinegraph::bench

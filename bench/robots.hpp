#pragma once

#include <Eigen/Core>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/peer.hpp"
#include "kinegraph/mechanics/screw/tree.hpp"

namespace kinegraph::bench {

using TreePointer = std::shared_ptr<const screw::Tree>;

/// models/<file> of this repository.
TreePointer own_robot(const std::string& file, bool floating = false);
/// models/<file> of the reference data beside it; null if that is absent.
TreePointer shared_robot(const std::string& file, bool floating = false);

/// `links` bars, 0.2 m and 0.5 kg each, on hinges about y and z by turns; several such chains hang on one more bar.
TreePointer chain(int links, int chains = 1);
/// Planar loops of hinges, gravity in their plane: bars of these lengths one after the other from the ground, the last
/// one ending on it at (span, 0).
TreePointer closed_chain(const std::vector<double>& lengths, double span);

/// The same robot for a peer; nothing if it has joints that the peers of this program are not told about.
std::optional<PeerRobot> describe(const screw::Tree& tree);

/// States to cycle through, so that no branch predictor learns them. Loops are closed, velocities fit them.
struct State {
  Eigen::VectorXd q, v, a, tau;
};
std::vector<State> random_states(const screw::Tree& tree, int count);

}  // namespace kinegraph::bench

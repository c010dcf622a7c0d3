#include "bench/peer.hpp"

#if KINEGRAPH_WITH_PINOCCHIO
extern "C" kinegraph::bench::Peer* kinegraph_peer_pinocchio(const kinegraph::bench::PeerRobot&, bool world);
extern "C" kinegraph::bench::Peer* kinegraph_peer_pinocchio_native(const kinegraph::bench::PeerRobot&, bool world);
#endif
#if KINEGRAPH_WITH_PINOCCHIO_CLANG
extern "C" kinegraph::bench::Peer* kinegraph_peer_pinocchio_clang(const kinegraph::bench::PeerRobot&, bool world);
#endif

namespace kinegraph::bench {

#if KINEGRAPH_WITH_MUJOCO
std::unique_ptr<Peer> mujoco_peer(const PeerRobot& robot);
#endif

std::vector<Contestant> peers([[maybe_unused]] const PeerRobot& robot) {
  std::vector<Contestant> all;
#if KINEGRAPH_WITH_PINOCCHIO
  for (const bool world : {false, true}) {
    const std::string recursion = world ? ", world" : "";
    all.push_back({"Pinocchio" + recursion, std::unique_ptr<Peer>(kinegraph_peer_pinocchio(robot, world))});
    all.push_back(
        {"Pinocchio native" + recursion, std::unique_ptr<Peer>(kinegraph_peer_pinocchio_native(robot, world))});
#if KINEGRAPH_WITH_PINOCCHIO_CLANG
    all.push_back({"Pinocchio clang" + recursion, std::unique_ptr<Peer>(kinegraph_peer_pinocchio_clang(robot, world))});
#endif
  }
#endif
#if KINEGRAPH_WITH_MUJOCO
  all.push_back({"MuJoCo", mujoco_peer(robot)});
#endif
  return all;
}

}  // namespace kinegraph::bench

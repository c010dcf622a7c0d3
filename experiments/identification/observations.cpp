// (002, Fig. G.12): the simulated Furuta pendulum, let go near its upright position, as identification is given it.
#include <fmt/format.h>

#include <cmath>

#include "experiments/maximal_recording.hpp"
#include "experiments/record.hpp"

using namespace kinegraph;
using namespace kinegraph::experiments;

int main() {
  Record record("observations");
  RecordingPlan plan;
  plan.joints = {"theta1", "theta2"};
  const Trajectory recording = kinegraph::experiments::record(furuta(M_PI - 0.03), plan);
  for (const std::string& joint : plan.joints) {
    record.draw("002 Fig. G.12", "furuta_release_" + joint,
                report::Plot{fmt::format("{} with noise of {} rad", joint, plan.noise),
                             "t in s",
                             "rad",
                             {curve(joint, recording, joint + ".q")}});
  }
  record.compare({"002 Fig. G.12", "length of the recording", "s", 40, recording.times().back()});
}

// Motions as graphs, drawn from the factors that our programs really solve (000, Figs. 1 to 4; 003, Fig. 5; 004, Figs.
// 2 and 4): planar mechanisms in dependent and independent coordinates, robots by their joints.
#include "bench/clock.hpp"
#include "experiments/pictures.hpp"
#include "experiments/record.hpp"
#include "kinegraph/io/model_file.hpp"

using namespace kinegraph;
using namespace kinegraph::experiments;

int main() {
  Record record("motion_graphs");
  const auto read = [](const std::string& file) {
    return bench::require(read_model(KINEGRAPH_SOURCE_DIR "/models/" + file), file.c_str());
  };
  const Model fourbar = read("fourbar.yaml");
  const std::string arrows =
      "eliminated back in time: arrows lead from what a variable is computed from; shaded: known";
  const std::string dependent_bayes = motion_picture(fourbar, "natural", true, "Dependent coordinates");
  const std::string independent_bayes = motion_picture(fourbar, "independent", true, "Independent coordinates");
  record.draw("000 Fig. 1", "network_dependent", dependent_bayes, "(a) " + arrows);
  record.draw("000 Fig. 1", "network_independent", independent_bayes, "(b) " + arrows);
  record.draw("000 Fig. 2", "factors_dependent", motion_picture(fourbar, "natural", false, "Dependent coordinates"),
              "three knots; the first is known");
  record.draw("000 Fig. 3", "factors_independent",
              motion_picture(fourbar, "independent", false, "Independent coordinates"),
              "three knots; the first is known");
  record.draw("000 Fig. 4", "factors_inverse_fourbar",
              instant_picture(fourbar, {"Inverse dynamics of the four-bar, one instant"}).svg,
              "bodies, joints and the loop of the four-bar; the crank's motion is known, its torque asked for");

  const Model sensed = read("fourbar_gyro.yaml");
  const std::string without = "; readings and the branch, which our drawings of motions leave out, hang on q and q̇";
  record.draw("004 Fig. 2", "network_sensed_dependent",
              motion_picture(sensed, "natural", true, "Dependent coordinates"), arrows + without);
  record.draw("004 Fig. 4", "network_sensed_independent",
              motion_picture(sensed, "screw", true, "Coordinates of joints alone"), arrows + without);

  record.draw("003 Fig. 5", "factors_plan",
              motion_picture(read("three_r.urdf"), "screw", false, "A plan of three knots"),
              "dynamics of each knot, successive knots tied by collocation; goals, limits and objectives are further "
              "factors on single knots, which the drawing leaves out");
}

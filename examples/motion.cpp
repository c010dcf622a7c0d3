// The twin of motion.py. The start and the forces are known. How does it move?
#include <algorithm>
#include <cmath>

#include "answer.hpp"
#include "kinegraph/io/model_file.hpp"
#include "kinegraph/task/simulate.hpp"

int main() {
  const auto model = answer(answer(kinegraph::read_model("models/fourbar.yaml")).with({{"theta.q", 30 * M_PI / 180}}));
  kinegraph::task::SimulateOptions options;
  options.time = 2;
  options.reactions = true;
  const auto found = answer(kinegraph::task::simulate(model, options));
  const auto& motion = found.trajectory;
  std::printf("theta after %g s: %.4f rad, energy error %.1e J\n", motion.times().back(),
              motion.at(motion.samples() - 1, motion.find("theta.q")), found.summary.energy_error);
  double largest = 0;
  for (const double f : motion.column(motion.find("A.fy"))) largest = std::max(largest, std::abs(f));
  std::printf("largest force in pin A: %.1f N\n", largest);
}

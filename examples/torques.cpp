// The twin of torques.py. The motion is known. Which torque makes it move so?
#include <cmath>

#include "answer.hpp"
#include "kinegraph/io/model_file.hpp"
#include "kinegraph/task/inverse.hpp"

int main() {
  kinegraph::Trajectory wanted({"theta.q"});
  for (int i = 0; i <= 200; ++i) {
    const double t = 0.01 * i, s = std::sin(M_PI * t);
    *wanted.append(t) = 0.5 * s * s;
  }
  const auto found = answer(kinegraph::task::inverse(answer(kinegraph::read_model("models/fourbar.yaml")), wanted, {}));
  std::printf("peak torque %.2f N m\n", found.summary.torque_peak[0]);
}

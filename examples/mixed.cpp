// The twin of mixed.py. Some torques and some accelerations are known. What are the others? NaN is asked for.
#include <algorithm>
#include <array>
#include <cmath>

#include "answer.hpp"
#include "kinegraph/io/model_file.hpp"
#include "kinegraph/task/hybrid.hpp"

int main() {
  kinegraph::Trajectory known({"left_motor.q", "left_motor.v", "left_motor.a", "left_motor.tau", "right_motor.q",
                               "right_motor.v", "right_motor.a", "right_motor.tau"});
  const auto add = [&](double t, const std::array<double, 8>& row) {
    std::copy(row.begin(), row.end(), known.append(t));
  };
  add(0, {0, 0, 5, NAN, 0, 0, -2.5, NAN});
  add(0.1, {0.0245, 0.4794, NAN, -0.9, -0.0122, -0.2397, NAN, 0.8});
  const auto found = answer(kinegraph::task::hybrid(answer(kinegraph::read_model("models/five_bar.sdf")), known, {}));
  for (const char* name : {"left_motor.tau", "right_motor.tau", "left_motor.a"}) {
    const auto column = found.trajectory.column(found.trajectory.find(name));
    std::printf("%s: %.8f %.8f\n", name, column[0], column[1]);
  }
}

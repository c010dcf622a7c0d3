// The library without the command line: read a model, let it fall for a second, print where its points are.
//   fourbar models/fourbar.yaml

#include <cstdio>

#include "kinegraph/io/model_file.hpp"
#include "kinegraph/task/simulate.hpp"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s MODEL.yaml\n", argv[0]);
    return 2;
  }
  const auto model = kinegraph::read_model(argv[1]);
  if (!model) {
    std::fprintf(stderr, "%s\n", model.failure().to_string().c_str());
    return model.failure().exit_status();
  }

  kinegraph::task::SimulateOptions options;
  options.time = 1;
  const auto result = kinegraph::task::simulate(*model, options);
  if (!result) {
    std::fprintf(stderr, "%s\n", result.failure().to_string().c_str());
    return result.failure().exit_status();
  }

  const auto& motion = result->trajectory;
  std::printf("after %g s:\n", motion.times().back());
  for (int i = 0; i < motion.series(); ++i)
    std::printf("  %-10s %12.9f\n", motion.names()[i].c_str(), motion.at(motion.samples() - 1, i));
  std::printf("largest constraint violation %.1e m^2\n", result->summary.constraint_max);
}

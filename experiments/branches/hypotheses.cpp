// (004, Fig. 6): all hypotheses of a filter that knows neither the crank's angle nor the assembly, for growing numbers
// of particles. Ours are spread evenly over both assemblies; the paper's are drawn at random (its eq. 22).
#include <fmt/format.h>

#include "bench/clock.hpp"
#include "experiments/gyroscope_fourbar.hpp"
#include "experiments/pictures.hpp"
#include "experiments/record.hpp"

using namespace kinegraph;
using namespace kinegraph::experiments;

int main() {
  Record record("hypotheses");
  const Model model = fourbar();
  task::Machine machine = bench::require(task::make_machine(model, {}), "machine");
  filter::Plant& plant = machine.plant();
  std::vector<std::string> names;
  for (int i = 0; i < plant.velocities(); ++i) names.push_back(plant.column_name(i));
  task::BranchOptions options;
  options.coordinate = "theta";
  const task::Branches branches = bench::require(task::find_branches(model, options), "branches");
  for (const int particles : {10, 50, 200}) {
    std::vector<Linkage> all;
    for (const task::Configuration& c : branches.samples(particles / branches.count())) {
      Trajectory place(names);
      std::copy_n(c.q.data(), names.size(), place.append(0));
      all.push_back(linkage(model, place, 0));
      all.back().colour = c.branch;
    }
    record.draw("004 Fig. 6", fmt::format("hypotheses_{}", particles),
                linkage_picture(all, fmt::format("{} particles", particles)),
                fmt::format("{} hypotheses, the two assemblies in two colours", all.size()));
  }
  record.compare({"004 Fig. 6", "assemblies found", "", 2, static_cast<double>(branches.count())});
}

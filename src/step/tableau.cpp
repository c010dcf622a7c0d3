#include "kinegraph/step/tableau.hpp"

namespace kinegraph::step {

const std::vector<Tableau>& tableaus() {
  static const std::vector<Tableau> list = {
      {"euler", 1, 1, {}, {1}, {0}},
      {"midpoint", 2, 2, {{}, {0.5}}, {0, 1}, {0, 0.5}},
      {"heun", 2, 2, {{}, {1}}, {0.5, 0.5}, {0, 1}},
      {"rk4", 4, 4, {{}, {0.5}, {0, 0.5}, {0, 0, 1}}, {1. / 6, 1. / 3, 1. / 3, 1. / 6}, {0, 0.5, 0.5, 1}},
      {"dopri5",
       6,
       5,
       {{},
        {1. / 5},
        {3. / 40, 9. / 40},
        {44. / 45, -56. / 15, 32. / 9},
        {19372. / 6561, -25360. / 2187, 64448. / 6561, -212. / 729},
        {9017. / 3168, -355. / 33, 46732. / 5247, 49. / 176, -5103. / 18656}},
       {35. / 384, 0, 500. / 1113, 125. / 192, -2187. / 6784, 11. / 84},
       {0, 1. / 5, 3. / 10, 4. / 5, 8. / 9, 1}},
  };
  return list;
}

Result<Tableau> find_tableau(const std::string& name) {
  std::vector<std::string> names;
  std::string all;
  for (const Tableau& t : tableaus()) {
    if (name == t.name) return t;
    names.emplace_back(t.name);
    all += (all.empty() ? "" : ", ") + names.back();
  }
  return Failure::bad_input("integrator: must be one of " + all + ", is '" + name + "'" + did_you_mean(name, names));
}

}  // namespace kinegraph::step

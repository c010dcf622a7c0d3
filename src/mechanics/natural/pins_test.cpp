#include "kinegraph/model/pins.hpp"

#include <gtest/gtest.h>

#include "kinegraph/mechanics/natural/models_test.hpp"
#include "kinegraph/mechanics/natural/reactions.hpp"

namespace kinegraph::natural::pins_test {
namespace {

/// What files call a pin must be what the columns of its forces are called.
void expect_names_of_reactions(const Model& model) {
  const Reactions reactions(model, std::make_shared<System>(model));
  std::vector<std::string> names;
  for (const Pin& pin : pins(model)) names.insert(names.end(), {pin.name + ".fx", pin.name + ".fy"});
  EXPECT_EQ(names, reactions.names());
}

TEST(Pins, AreNamedAsReactions) {
  expect_names_of_reactions(fourbar());
  expect_names_of_reactions(zoo());

  Model model = fourbar();  // three bodies at P1 and at D, two sliders on one point, one that holds nothing
  const PointIndex a(0), p1(1), d(3), q = add_point(model, "Q", 2, -1), r = add_point(model, "R", 3, -1);
  const PointIndex f = add_point(model, "F", 5, 0, true);
  add_body(model, {p1, q}, 1);
  add_body(model, {d, q}, 1);
  add_body(model, {r, q}, 1);
  model.sliders = {{"rail", r, a, d, {}}, {"bar", r, p1, q, {}}, {"still", a, d, f, {}}};
  for (std::size_t b = 0; b < model.bodies.size(); ++b) model.bodies[b].name = "body" + std::to_string(b);
  expect_names_of_reactions(model);
}

}  // namespace
}  // namespace kinegraph::natural::pins_test

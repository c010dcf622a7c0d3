#include "goal.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <set>
#include <sstream>

#include "kinegraph/base/names.hpp"

namespace kinegraph::cli {
namespace {

constexpr const char* kForm = "expected 'LINK: x=… y=… z=… [rpy=r,p,y | quat=w,x,y,z] [offset=x,y,z]'";

/// Reads the words after the colon.
class GoalReader {
 public:
  GoalReader(OptionReader& reader, task::FrameGoal& goal) : reader_(reader), goal_(goal) {}

  void word(const std::string& word) {
    const std::size_t equals = word.find('=');
    const std::string key = word.substr(0, equals), value = equals == std::string::npos ? "" : word.substr(equals + 1);
    if (equals == std::string::npos || value.empty()) {
      reader_.fault("goal", fmt::format("{}, found {}", kForm, quote(word)));
    } else if (!given_.insert(key).second) {
      reader_.fault("goal", quote(key) + " is given twice");
    } else if (key == "x" || key == "y" || key == "z") {
      const int axis = key[0] - 'x';
      goal_.pose.axis[axis] = true;
      goal_.pose.X_WG.p[axis] = reader_.number("goal " + key, value);
    } else if (key == "rpy") {
      const auto angles = numbers<3>(key, value);
      // About the fixed axes x, y, z one after the other, as in URDF.
      rotation(SO3::exp({0, 0, angles[2]}) * SO3::exp({0, angles[1], 0}) * SO3::exp({angles[0], 0, 0}));
    } else if (key == "quat") {
      const auto q = numbers<4>(key, value);
      const double norm = std::sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
      if (!(std::abs(norm - 1) < 0.01))
        reader_.fault("goal quat", fmt::format("must have the length 1, has {:.4g}", norm));
      rotation(SO3::load(q.data()));
    } else if (key == "offset") {
      const auto p = numbers<3>(key, value);
      goal_.offset = {p[0], p[1], p[2]};
    } else {
      reader_.fault("goal", fmt::format("unknown key {}{}", quote(key),
                                        did_you_mean(key, {"x", "y", "z", "rpy", "quat", "offset"})));
    }
  }

 private:
  template <std::size_t n>
  std::array<double, n> numbers(const std::string& key, const std::string& text) {
    std::array<double, n> values{};
    values[0] = n == 4;  // a rotation even where the text is none
    const std::vector<std::string> parts = split_list(text);
    if (parts.size() != n) {
      reader_.fault("goal " + key, fmt::format("expected {} numbers with commas between, found {}", n, quote(text)));
      return values;
    }
    for (std::size_t i = 0; i < n; ++i) values[i] = reader_.number("goal " + key, parts[i]);
    return values;
  }
  void rotation(const SO3& R) {
    if (goal_.pose.rotation) reader_.fault("goal", "rpy and quat: only one of them");
    goal_.pose.rotation = true;
    goal_.pose.X_WG.R = R.matrix();
  }

  OptionReader& reader_;
  task::FrameGoal& goal_;
  std::set<std::string> given_;
};

}  // namespace

task::FrameGoal read_goal(OptionReader& reader, const std::string& text) {
  task::FrameGoal goal;
  for (bool& axis : goal.pose.axis) axis = false;
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos || colon == 0) {
    reader.fault("goal", fmt::format("{}, found {}", kForm, quote(text)));
    return goal;
  }
  goal.frame = text.substr(0, colon);
  GoalReader words(reader, goal);
  std::istringstream stream(text.substr(colon + 1));
  for (std::string word; stream >> word;) words.word(word);
  if (reader.ok() && goal.pose.rows() == 0)
    reader.fault("goal", fmt::format("nothing is asked of {}", quote(goal.frame)));
  return goal;
}

}  // namespace kinegraph::cli

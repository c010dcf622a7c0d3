#include "goal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "kinegraph/base/names.hpp"

namespace kinegraph::cli {
namespace {

constexpr const char* kForm = "expected 'LINK: x=… y=… z=… [rpy=r,p,y | quat=w,x,y,z] [offset=x,y,z]'";

/// "x=1, y=2 rpy=0, 0, 1" as "x=1", "y=2", "rpy=0,0,1": what follows a comma without a name belongs to what was before.
std::vector<std::string> terms_of(const std::string& text) {
  std::vector<std::string> terms;
  std::size_t commas = 0;
  for (std::size_t begin = 0, end = 0; end != std::string::npos; begin = end + 1) {
    end = text.find_first_of(", \t\n", begin);
    const std::string piece = text.substr(begin, end == std::string::npos ? end : end - begin);
    if (!piece.empty() && commas > 0 && !terms.empty() && piece.find('=') == std::string::npos) {
      terms.back() += std::string(commas, ',') + piece;
    } else if (!piece.empty()) {
      terms.push_back(piece);
    }
    if (!piece.empty()) commas = 0;
    if (end != std::string::npos && text[end] == ',') ++commas;
  }
  return terms;
}

/// "name=value", neither of them empty.
bool is_setting(const std::string& term) {
  const std::size_t equals = term.find('=');
  return equals != std::string::npos && equals > 0 && equals + 1 < term.size();
}

/// Reads the terms after the colon.
class GoalReader {
 public:
  GoalReader(OptionReader& reader, task::FrameGoal& goal) : reader_(reader), goal_(goal) {}

  void term(const std::string& text) {
    const std::size_t equals = text.find('=');
    const std::string key = text.substr(0, equals), value = text.substr(equals + 1);
    if (!given_.insert(key).second) {
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
  const std::vector<std::string> terms =
      colon == std::string::npos ? std::vector<std::string>() : terms_of(text.substr(colon + 1));
  if (colon == std::string::npos || colon == 0 || !std::all_of(terms.begin(), terms.end(), is_setting)) {
    reader.fault("goal", fmt::format("{}, found {}", kForm, quote(text)));
    return goal;
  }
  goal.frame = text.substr(0, colon);
  GoalReader words(reader, goal);
  for (const std::string& term : terms) words.term(term);
  if (reader.ok() && goal.pose.rows() == 0)
    reader.fault("goal", fmt::format("nothing is asked of {}", quote(goal.frame)));
  return goal;
}

}  // namespace kinegraph::cli

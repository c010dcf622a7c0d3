#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "kinegraph/base/result.hpp"
#include "kinegraph/model/trajectory.hpp"

namespace kinegraph::cli {

inline constexpr std::size_t kMostRows = 40;  ///< of a table that people read; all are in --json

/// What a verb found, told once: to people as aligned text with units, to machines as JSON in SI units.
class Summary {
 public:
  Summary(const std::string& verb, const std::string& model);

  /// `key` in JSON; `label` in the text, none if empty. Numbers that are not finite become null and "undefined".
  template <class T>
  Summary& add(const std::string& key, const T& value, const std::string& label, const std::string& unit = "") {
    return add_json(key, nlohmann::ordered_json(value), label, unit);
  }
  /// A block of text that only people see.
  Summary& add_text(std::string block);

  std::string text() const;
  std::string json() const;
  const nlohmann::ordered_json& data() const { return json_; }
  std::vector<std::pair<std::string, std::string>> facts() const;  ///< the lines for people: label, value

 private:
  struct Line {
    std::string label, value;  ///< no label: the value is a block
  };
  Summary& add_json(const std::string& key, nlohmann::ordered_json value, const std::string& label,
                    const std::string& unit);

  nlohmann::ordered_json json_;
  std::vector<Line> lines_;
};

/// The positions (.x .y .q) of a trajectory's samples side by side, `title` above each; not more than a screen.
std::string position_table(const Trajectory& trajectory, const std::string& title);

}  // namespace kinegraph::cli

#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <variant>
#include <vector>

#include "kinegraph/model/plan_task.hpp"

namespace kinegraph::ensemble {

/// Values at equal distances, or at equal ratios; computed from their number alone.
struct Grid {
  double from = 0, to = 0, step = 0;  ///< step 0: `count` values, the last is `to`
  std::uint64_t count = 0;
  bool logarithmic = false;

  double at(std::uint64_t i) const;
};

/// Values as they are given to the verb: "rk4", and numbers in SI: "0.001" of 1ms.
struct Choices {
  std::vector<std::string> texts;
};

/// A random number. It is drawn by its quantile function, so that a design only has to choose u of (0, 1).
struct Distribution {
  enum class Type { normal, uniform, log_uniform };
  static constexpr double kInfinity = std::numeric_limits<double>::infinity();

  Type type = Type::normal;
  double mean = 0, sd = 1;                    ///< of a normal one
  double low = -kInfinity, high = kInfinity;  ///< a normal one is cut off there

  double quantile(double u) const;
};

/// A number or a word as the study has it: what judges it before the start sees its unit, and tells its place.
struct Word : TaskName {
  bool met = true;  ///< a case has it: of a list, the end of a grid; not a distance, nor what a distribution is said by
};

/// What differs from case to case.
struct Varied {
  TaskName name;        ///< a number of the model as --set takes it; with two dashes an option of the verb
  bool option = false;  ///< the latter; the name is kept without dashes
  std::variant<Grid, Choices, Distribution> values;
  std::vector<Word> words = {};  ///< its numbers and words; of a list one for each value
  bool sound = true;             ///< false: its map has faults, and what is missing there was made up

  const Distribution* distribution() const { return std::get_if<Distribution>(&values); }
  std::string written() const { return (option ? "--" : "") + name.text; }  ///< as in the study
};

/// An option that is the same for all cases.
struct FixedOption {
  TaskName name;
  std::vector<TaskName> values;  ///< several: the option is repeated
};

struct StudyOutput {
  std::string name;  ///< of its column
  TaskName path;     ///< "energy_drift", "columns.theta.q.max"
};

/// Many cases of one verb. The cases are all combinations of the grids and lists, each with `samples` joint draws of
/// the distributions, each of these `repetitions` times with a seed of its own.
struct Study {
  enum class Joint { random, latin_hypercube, sobol };

  std::string file;
  TaskName verb, model;
  std::vector<FixedOption> options;
  std::vector<Varied> vary;
  Joint design = Joint::random;
  std::uint64_t samples = 1, repetitions = 1, seed = 0;
  std::vector<StudyOutput> outputs;

  std::size_t distributions() const;
  /// All that decides about the results, line by line: studies that differ in comments only have the same.
  std::vector<std::string> content() const;
};

const char* to_string(Study::Joint design);

/// Whether a text is a number without a unit.
bool is_number(const std::string& text);

}  // namespace kinegraph::ensemble

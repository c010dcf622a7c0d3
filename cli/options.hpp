#pragma once

#include <string>
#include <utility>
#include <vector>

#include "embedding.hpp"
#include "kinegraph/base/result.hpp"
#include "kinegraph/io/settings_file.hpp"
#include "kinegraph/model/model.hpp"

namespace CLI {
class App;
}

namespace kinegraph::cli {

/// Turns the texts of options into values, and keeps every fault: a user sees all of them at once. Messages name the
/// field and the rule: "step: must be > 0, is -0.001".
class OptionReader {
 public:
  double number(const std::string& field, const std::string& text);   ///< with a unit or a formula: "30deg", "pi/4"
  double seconds(const std::string& field, const std::string& text);  ///< the same; a unit must be of time
  long whole(const std::string& field, const std::string& text, long least, long most);
  /// "name=value"
  std::pair<std::string, double> setting(const std::string& field, const std::string& text);
  void choice(const std::string& field, const std::string& text,
              const std::vector<std::string>& valid);  ///< one of these
  void fault(const std::string& field, const std::string& rule);
  void fault(const Diagnostic& found);  ///< once, if the same is told twice

  bool ok() const { return faults_.empty(); }
  Failure failure() const { return {Failure::Kind::bad_input, faults_}; }

 private:
  std::vector<Diagnostic> faults_;
};

/// "a,b,c" without blanks around the names; none of an empty text.
std::vector<std::string> split_list(const std::string& text);

/// What every verb understands.
struct CommonOptions {
  std::string model, out, json, report, beside, threads, base, loops, sensor_file, seed = "0";
  std::vector<std::string> set, meshes;
  bool quiet = false, strict = false;

  void declare(CLI::App& app, bool writes_trajectory);
  /// The values that stand for themselves: threads, seed and base, with their faults told to `reader`.
  void read(OptionReader& reader);
  Result<Model> read_model() const;  ///< with --set applied; prints the file's warnings
  /// A line for people: on standard error, or kept where a program asks.
  void warn(const std::string& line) const;

  unsigned long seed_value = 0;
  Embedding* embedding = nullptr;  ///< where a program asks, not a shell

 private:
  Result<Model> apply_settings(OptionReader& reader, const Model& read, const Settings& settings,
                               const std::vector<FileSetting>& of_files) const;
  void check_effect(OptionReader& reader, const Model& read) const;
  Settings read_settings(OptionReader& reader, std::vector<FileSetting>& of_files) const;
  void check_units(OptionReader& reader, const Model& read, const std::vector<FileSetting>& of_files) const;
};

}  // namespace kinegraph::cli

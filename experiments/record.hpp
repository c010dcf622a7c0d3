#pragma once

#include <limits>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "experiments/table.hpp"
#include "kinegraph/model/trajectory.hpp"
#include "kinegraph/report/plot.hpp"

namespace kinegraph::experiments {

/// A figure of ours and what a paper prints for it.
struct Comparison {
  std::string result;    ///< of the paper: "000 Table 1"; the list is in experiments/results.py
  std::string quantity;  ///< "RMSE, window 2"
  std::string unit;
  double paper = std::numeric_limits<double>::quiet_NaN();  ///< not a number: the paper prints none
  double ours = 0;
  std::string note = {};
  std::string sign = {};  ///< before the paper's value: "< " where it prints a bound, "≈ " where it is about that
};

/// What an experiment found, in out/experiments/NAME.json: experiments/page.py makes the page from these files alone.
/// It is written when the record goes, whole or not at all: a program that ends before leaves none.
class Record {
 public:
  explicit Record(std::string name);
  ~Record();
  Record(const Record&) = delete;
  Record& operator=(const Record&) = delete;

  void compare(const Comparison& comparison);
  /// Also as out/experiments/PICTURE.svg.
  void draw(const std::string& result, const std::string& picture, const report::Plot& plot,
            const std::string& caption = "");
  void draw(const std::string& result, const std::string& picture, const std::string& svg, const std::string& caption);
  /// On the screen, as CSV and on the page.
  void show(const std::string& result, const Table& table);
  void text(const std::string& result, const std::string& caption, const std::string& text);
  /// A result that cannot be had, and why.
  void missing(const std::string& result, const std::string& why);
  /// The experiment cannot be made here, so that there are none of these results. The exit status of that.
  int skip(const std::string& why, const std::vector<std::string>& results);

 private:
  void add(const std::string& result, const char* kind, nlohmann::ordered_json item);

  std::string name_;
  std::unique_ptr<nlohmann::ordered_json> json_;
};

/// A file of the reference data, "data/fourbar_exact.csv" of ../shared or of the folder KINEGRAPH_SHARED; empty where
/// that is absent.
std::string shared_file(const std::string& relative);
/// The same for a file that a task or a model names: one of ../shared is looked for in KINEGRAPH_SHARED.
std::string named_file(const std::string& path);

/// A series of a trajectory as a curve.
report::Curve curve(const std::string& label, const Trajectory& motion, const std::string& series, double factor = 1);

}  // namespace kinegraph::experiments

#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "kinegraph/base/result.hpp"
#include "kinegraph/io/model_file.hpp"
#include "kinegraph/model/trajectory.hpp"

namespace kinegraph::task {
struct EstimateOptions;
}

namespace kinegraph::cli {

/// Models as their files say, each read once. Several threads may ask at the same time.
class ModelStore {
 public:
  /// Valid as long as the store.
  const Result<Model>& read(const std::string& path, const ReadOptions& options);

 private:
  std::mutex mutex_;
  std::map<std::string, Result<Model>> read_;
};

/// A verb that a program asks instead of a shell: what it would write and print is kept here. --json, --out and
/// --report still write their files where they are given. A name in angle brackets, "<motion>", stands for a file in
/// memory (memory.hpp).
struct Embedding {
  ModelStore* models = nullptr;                 ///< where models are taken from; null: the file is read
  std::shared_ptr<const Model> model;           ///< stands for what the file MODEL says
  std::map<std::string, std::string> given;     ///< tables in memory, as text, by their names
  std::string command;                          ///< how the page says that it was made
  bool keep_trajectory = false;                 ///< what --out would have is wanted
  bool keep_page = false;                       ///< what --report would have is wanted
  bool summary_only = false;                    ///< pictures and headers are not: nothing is drawn, --out not needed
  std::shared_ptr<task::EstimateOptions> live;  ///< of `estimate`: its options alone are wanted, here
  std::function<bool()> stopped;                ///< asked now and then by long work; true: it ends, interrupted

  nlohmann::ordered_json summary;  ///< what --json would have
  Trajectory trajectory;
  std::map<std::string, Trajectory> tables;                   ///< written to files in memory
  std::map<std::string, std::string> texts;                   ///< the same, what is no table
  std::function<std::string(const Trajectory* beside)> page;  ///< makes it; `beside` is drawn beside the result
  std::vector<std::string> warnings;
};

}  // namespace kinegraph::cli

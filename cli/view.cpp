#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>

#include "kinegraph/report/scene.hpp"
#include "kinegraph/task/kinematics.hpp"
#include "kinegraph/task/spatial_kinematics.hpp"
#include "outputs.hpp"
#include "progress_bar.hpp"

namespace kinegraph::cli {
namespace {

class View final : public Verb {
 public:
  std::string_view name() const override { return "view"; }
  std::string_view purpose() const override {
    return "a page with sliders for the joints, to move the machine by hand";
  }
  std::string_view teaching() const override {
    return "Examples:\n"
           "  kinegraph view fourbar.yaml                            writes fourbar.html: open it with any browser\n"
           "  kinegraph view arm.urdf --report arm.html\n\n"
           "The page holds the machine and its equations: a slider for every joint of an open chain, or for as many\n"
           "coordinates as a machine with closed loops has freedoms; the rest follows, and the loops stay closed. A\n"
           "slider stops where the mechanism can go no further.\n";
  }
  void declare(CLI::App& app) override { common_.declare(app, false); }
  Done run() override;

 private:
};

/// An assembled pose and the coordinates that get sliders.
struct Assembled {
  Trajectory pose;
  std::vector<std::string> driven;
  int freedoms = 0;
};

Result<Assembled> assemble_planar(const Model& model, const Progress& progress) {
  task::KinematicsOptions options;
  options.progress = progress;
  Result<task::KinematicsResult> found = task::kinematics(model, options);
  if (!found) return found.failure();
  Assembled assembled{std::move(found->trajectory), {}, found->degrees_of_freedom};
  // Angles that the file names are what its author thinks in; else whatever the assembly held.
  const auto freedoms = static_cast<std::size_t>(std::max(0, found->degrees_of_freedom));
  for (const std::string& name : found->independent) {
    if (assembled.driven.size() < freedoms) assembled.driven.push_back(name);
  }
  if (freedoms == 1 && !model.relative.empty()) assembled.driven = {model.relative.front().name};
  return assembled;
}

Result<Assembled> assemble_spatial(const Model& model, const Progress& progress) {
  task::SpatialKinematicsOptions options;
  options.progress = progress;
  Result<task::SpatialKinematicsResult> found = task::spatial_kinematics(model, options);
  if (!found) return found.failure();
  return Assembled{std::move(found->trajectory), std::move(found->independent), found->freedoms};
}

Done View::run() {
  OptionReader reader;
  if (common_.report.empty() && !common_.model.empty() && !common_.embedding) {
    common_.report = std::filesystem::path(common_.model).stem().string() + ".html";
  }
  common_.read(reader);
  if (!reader.ok()) return reader.failure();
  Result<Outputs> outputs = Outputs::open(common_);
  if (!outputs) return outputs.failure();
  const Result<Model> model = common_.read_model();
  if (!model) return model.failure();
  ProgressBar bar("view", common_);
  const auto found =
      model->spatial() ? assemble_spatial(*model, bar.callback()) : assemble_planar(*model, bar.callback());
  if (!found) return found.failure();
  auto view = report::view_section(*model, found->driven, &found->pose);
  if (!view) return view.failure();
  if (ReportContent* report = outputs->show(*model, command)) {
    report->timed = false;
    report->page.view = *std::move(view);
  }
  Summary summary("view", common_.model);
  summary.add("degrees_of_freedom", found->freedoms, "degrees of freedom")
      .add("driven", found->driven, found->driven.size() > 12 ? "" : "moved by sliders");
  return outputs->write(summary, &found->pose, bar.callback());
}

}  // namespace

std::unique_ptr<Verb> make_view() { return std::make_unique<View>(); }

}  // namespace kinegraph::cli

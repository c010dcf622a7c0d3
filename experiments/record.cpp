#include "experiments/record.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "kinegraph/io/output.hpp"

namespace kinegraph::experiments {
namespace {

using Json = nlohmann::ordered_json;

Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

void write(const std::string& file, const std::string& content) {
  const std::filesystem::path folder = std::filesystem::path("out") / "experiments";
  std::filesystem::create_directories(folder);
  if (const auto done = write_file((folder / file).string(), content); !done) {
    fmt::print(stderr, "{}\n", done.failure().to_string());
    std::exit(1);
  }
}

}  // namespace

Record::Record(std::string name) : name_(std::move(name)), json_(std::make_unique<Json>()) {
  *json_ = {{"name", name_}, {"skipped", nullptr}, {"items", Json::array()}};
}

Record::~Record() { write(name_ + ".json", json_->dump(1) + "\n"); }

void Record::add(const std::string& result, const char* kind, Json item) {
  Json entry{{"result", result}, {"kind", kind}};
  entry.update(item);
  (*json_)["items"].push_back(std::move(entry));
}

void Record::compare(const Comparison& c) {
  add(c.result, "comparison",
      {{"quantity", c.quantity},
       {"unit", c.unit},
       {"sign", c.sign},
       {"paper", number(c.paper)},
       {"ours", number(c.ours)},
       {"ratio", c.paper != 0 ? number(c.ours / c.paper) : Json(nullptr)},
       {"note", c.note}});
  fmt::print("  {}, {}: paper {}{}, ours {}{}{}\n", c.result, c.quantity, c.sign, figure(c.paper), figure(c.ours),
             c.unit.empty() ? "" : " " + c.unit, c.note.empty() ? "" : " (" + c.note + ")");
}

void Record::draw(const std::string& result, const std::string& picture, const report::Plot& plot,
                  const std::string& caption) {
  draw(result, picture, report::svg(plot), caption.empty() ? plot.title : caption);
}

void Record::draw(const std::string& result, const std::string& picture, const std::string& svg,
                  const std::string& caption) {
  write(picture + ".svg", svg);
  add(result, "picture", {{"file", picture + ".svg"}, {"caption", caption}});
}

void Record::show(const std::string& result, const Table& table) {
  table.show();
  add(result, "table", {{"rows", table.rows()}});
}

void Record::text(const std::string& result, const std::string& caption, const std::string& text) {
  add(result, "text", {{"caption", caption}, {"text", text}});
}

void Record::missing(const std::string& result, const std::string& why) {
  add(result, "missing", {{"why", why}});
  fmt::print("  {}: {}\n", result, why);
}

int Record::skip(const std::string& why, const std::vector<std::string>& results) {
  (*json_)["skipped"] = why;
  for (const std::string& result : results) missing(result, why);
  fmt::print("skipped: {}\n", why);
  return 0;
}

std::string shared_file(const std::string& relative) {
  const char* folder = std::getenv("KINEGRAPH_SHARED");
  const auto path = std::filesystem::path(folder ? folder : KINEGRAPH_SOURCE_DIR "/../shared") / relative;
  return std::filesystem::exists(path) ? path.lexically_normal().string() : "";
}

std::string named_file(const std::string& path) {
  namespace fs = std::filesystem;
  const fs::path relative =
      fs::weakly_canonical(path).lexically_relative(fs::weakly_canonical(KINEGRAPH_SOURCE_DIR "/../shared"));
  if (!relative.empty() && *relative.begin() != "..") return shared_file(relative.string());
  return fs::exists(path) ? path : "";
}

report::Curve curve(const std::string& label, const Trajectory& motion, const std::string& series, double factor) {
  report::Curve curve{label, motion.times(), motion.column(motion.find(series))};
  for (double& y : curve.y) y *= factor;
  return curve;
}

}  // namespace kinegraph::experiments

#include "options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>

#include "kinegraph/base/largest.hpp"
#include "kinegraph/base/names.hpp"
#include "kinegraph/base/units.hpp"
#include "kinegraph/expr/expression.hpp"
#include "kinegraph/io/model_file.hpp"
#include "kinegraph/io/text_file.hpp"
#include "kinegraph/io/xml_tree.hpp"
#include "kinegraph/model/loops.hpp"
#include "kinegraph/model/setting_quantity.hpp"
#include "progress_bar.hpp"

namespace kinegraph::cli {

void OptionReader::choice(const std::string& field, const std::string& text, const std::vector<std::string>& valid) {
  if (std::find(valid.begin(), valid.end(), text) != valid.end()) return;
  fault(field,
        fmt::format("must be one of {}, is {}{}", fmt::join(valid, ", "), quote(text), did_you_mean(text, valid)));
}

void OptionReader::fault(const std::string& field, const std::string& rule) {
  fault({Severity::error, {}, fmt::format("{}: {}", field, rule)});
}

void OptionReader::fault(const Diagnostic& found) {
  const auto same = [&](const Diagnostic& told) { return to_string(told) == to_string(found); };
  if (std::none_of(faults_.begin(), faults_.end(), same)) faults_.push_back(found);
}

double OptionReader::number(const std::string& field, const std::string& text) {
  const Result<double> value = parse_number(text);
  if (value && is_usable(*value)) return *value;
  fault(field, value ? fmt::format("must be {}, is {}", usable_range(), text)
                     : value.failure().diagnostics.front().message);
  return std::nan("");
}

double OptionReader::seconds(const std::string& field, const std::string& text) {
  const std::string wrong = wrong_unit(text, "time");
  if (wrong.empty()) return number(field, text);
  fault(field, wrong);
  return std::nan("");
}

long OptionReader::whole(const std::string& field, const std::string& text, long least, long most) {
  long value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::invalid_argument || end != text.data() + text.size()) {
    fault(field, fmt::format("expected a whole number, found {}", quote(text)));
  } else if (error == std::errc::result_out_of_range || value < least || value > most) {
    const bool below = text.starts_with('-') || (error == std::errc{} && value < least);
    fault(field, fmt::format("must be {} {}, is {}", below ? ">=" : "<=", below ? least : most, text));
  }
  return value;
}

std::pair<std::string, double> OptionReader::setting(const std::string& field, const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == 0 || equals == std::string::npos) {
    fault(field, fmt::format("expected name=value, found {}", quote(text)));
    return {};
  }
  const std::string name = text.substr(0, equals);
  return {name, number(fmt::format("{} {}", field, name), text.substr(equals + 1))};
}

std::vector<std::string> split_list(const std::string& text) {
  std::vector<std::string> parts;
  if (text.empty()) return parts;
  for (std::size_t begin = 0, end = 0; end != std::string::npos; begin = end + 1) {
    end = text.find(',', begin);
    parts.push_back(CLI::detail::trim_copy(text.substr(begin, end == std::string::npos ? end : end - begin)));
  }
  return parts;
}

void CommonOptions::declare(CLI::App& app, bool writes_trajectory) {
  app.add_option("MODEL", model, "the machine: a YAML, URDF or SDF file (docs/formats.md)");
  const std::string group = "Common to every verb";
  if (writes_trajectory) {
    app.add_option("--out", out, "write the trajectory: header row, first column t; - is standard output")
        ->type_name("FILE.csv")
        ->group(group);
  }
  app.add_option("--json", json, "write the summary for machines: SI units; - is standard output")
      ->type_name("FILE|-")
      ->group(group);
  app.add_option("--report", report, "write one page to look at: animation, plots, graph, residuals")
      ->type_name("FILE.html")
      ->group(group);
  if (writes_trajectory) {
    app.add_option("--beside", beside, "a table to draw beside the result in --report: the truth, another run")
        ->type_name("FILE.csv")
        ->group(group);
  }
  app.add_option("--set", set, "a model parameter or an initial value, or a file of such lines; may be repeated")
      ->type_name("NAME=VALUE|@FILE")
      ->allow_extra_args(false)
      ->take_all()
      ->group(group);
  app.add_option("--base", base, "of a robot: how it stands in the world; default: as the file says, else fixed")
      ->type_name("fixed|floating")
      ->group(group);
  app.add_option("--meshes", meshes,
                 "a folder whose meshes may be read, for pictures and clearances of plans; may be repeated")
      ->type_name("FOLDER")
      ->allow_extra_args(false)
      ->take_all()
      ->group(group);
  app.add_option("--loops", loops, "of a robot: the file that closes its loops; default: robot.loops.yaml beside it")
      ->type_name("FILE.yaml")
      ->group(group);
  app.add_option("--sensor-file", sensor_file,
                 "of a robot: the file with its sensors; default: robot.sensors.yaml beside it")
      ->type_name("FILE.yaml")
      ->group(group);
  app.add_flag("--strict", strict, "of a robot: doubtful physics is an error, not a warning")->group(group);
  app.add_option("--threads", threads, "default: all cores; the result does not depend on it")
      ->type_name("N")
      ->group(group);
  app.add_option("--seed", seed, "every random number comes from it; default 0")->type_name("N")->group(group);
  app.add_flag("--quiet", quiet, "no progress bar (none either where stderr is not a terminal)")->group(group);
}

void CommonOptions::read(OptionReader& reader) {
  if (!threads.empty()) reader.whole("threads", threads, 1, 4096);
  seed_value = static_cast<unsigned long>(reader.whole("seed", seed, 0, std::numeric_limits<long>::max()));
  if (!base.empty() && base != "fixed" && base != "floating") {
    reader.fault("base", "must be fixed or floating, is " + quote(base));
  }
  if (!beside.empty() && report.empty()) reader.fault("beside", "is drawn in --report, which is not given");
}

namespace {

/// SDF by its name, or by its outermost element where the name does not say.
bool is_sdf(const std::filesystem::path& path) {
  std::string extension = path.extension().string();
  for (char& c : extension) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
  if (extension != ".xml") return extension == ".sdf" || extension == ".world";
  const Result<std::string> text = io::read_text_file(path, io::XmlTree::kLargestFile);
  const Result<io::XmlTree> tree = text ? io::XmlTree::parse(*text, path.string()) : text.failure();
  return tree && std::string(tree->root().name()) == "sdf";
}

/// A base that the file of sensors names is one of the joints.
bool floats(const Robot& robot) {
  return std::any_of(robot.joints.begin(), robot.joints.end(),
                     [](const Joint& joint) { return !joint.parent.valid() && joint.type == JointType::floating; });
}

}  // namespace

/// Options that the model leaves without effect.
void CommonOptions::check_effect(OptionReader& reader, const Model& read) const {
  if (!loops.empty() && !read.spatial()) {
    reader.fault("loops", "is for URDF files: a planar model closes its loops itself");
  } else if (!loops.empty() && is_sdf(model)) {
    reader.fault("loops", "is for URDF files: an SDF file closes its loops itself");
  }
  if (!sensor_file.empty() && !read.spatial()) {
    reader.fault("sensor-file", "is for robots: a planar model has its sensors itself");
  }
  if (base.empty()) return;
  if (!read.spatial()) {
    warn(fmt::format("warning: --base {} has no effect: a planar model says itself which points are fixed", base));
  } else if (base == "floating" && floating_roots(read.robot).empty() && !floats(read.robot)) {
    warn("warning: --base floating has no effect: joints tie every link to the world");
  }
}

/// Units of values that --set says, as model files have them checked.
void CommonOptions::check_units(OptionReader& reader, const Model& read,
                                const std::vector<FileSetting>& of_files) const {
  for (const std::string& text : set) {
    const std::string name = text.substr(0, text.find('='));
    if (text.starts_with('@') || name.size() == text.size()) continue;
    const std::string wrong = wrong_unit(text.substr(name.size() + 1), quantity_of_setting(read, name));
    if (!wrong.empty()) reader.fault("set " + name, wrong);
  }
  for (const FileSetting& setting : of_files) {
    const std::string wrong = wrong_unit(setting.text, quantity_of_setting(read, setting.name));
    if (!wrong.empty()) reader.fault({Severity::error, setting.where, fmt::format("{}: {}", setting.name, wrong)});
  }
}

/// What --set says; the values of files, where these are, in `of_files` too.
Settings CommonOptions::read_settings(OptionReader& reader, std::vector<FileSetting>& of_files) const {
  Settings settings;
  for (const std::string& text : set) {
    if (text.starts_with('@')) {
      const Result<std::vector<FileSetting>> read = read_settings_file(text.substr(1));
      if (!read) {
        for (const Diagnostic& fault : read.failure().diagnostics) reader.fault(fault);
        continue;
      }
      of_files.insert(of_files.end(), read->begin(), read->end());
      continue;
    }
    const auto [name, value] = reader.setting("set", text);
    if (!name.empty() && !settings.emplace(name, value).second) reader.fault("set", quote(name) + " is given twice");
  }
  Settings from_files;
  for (const FileSetting& setting : of_files) {
    if (!from_files.emplace(setting.name, setting.value).second) {
      reader.fault({Severity::error, setting.where, quote(setting.name) + " is given by another file, too"});
    }
  }
  settings.merge(from_files);  // what is said on the line counts
  return settings;
}

namespace {

/// Settings that the model does not take, with their places where a file has them.
Failure blame(const Model& model, const std::vector<FileSetting>& of_files, Failure failure) {
  std::vector<Diagnostic> found;
  for (const FileSetting& setting : of_files) {
    const Result<Model> alone = model.with({{setting.name, setting.value}});
    if (alone) continue;
    for (const Diagnostic& fault : alone.failure().diagnostics) {
      found.push_back({Severity::error, setting.where, fault.message});
    }
  }
  if (!found.empty()) failure.diagnostics = std::move(found);
  return failure;
}

}  // namespace

Result<Model> CommonOptions::read_model() const {
  OptionReader reader;
  std::vector<FileSetting> of_files;
  const Settings settings = read_settings(reader, of_files);
  ReadOptions options;
  options.strict = strict;
  options.loops = loops;
  options.sensors = sensor_file;
  if (!base.empty()) options.base = base == "floating" ? Robot::Base::floating : Robot::Base::fixed;
  if (embedding && embedding->model) return apply_settings(reader, *embedding->model, settings, of_files);
  if (embedding && embedding->models) {
    const Result<Model>& stored = embedding->models->read(model, options);
    return stored ? apply_settings(reader, *stored, settings, of_files) : stored;
  }
  const Result<Model> read = kinegraph::read_model(model, options);
  return read ? apply_settings(reader, *read, settings, of_files) : read;
}

Result<Model> CommonOptions::apply_settings(OptionReader& reader, const Model& read, const Settings& settings,
                                            const std::vector<FileSetting>& of_files) const {
  const bool told = embedding && embedding->model;  // to who read it
  for (const Diagnostic& warning : read.warnings) {
    if (!told) warn(to_string(warning));
  }
  check_effect(reader, read);
  check_units(reader, read, of_files);
  if (!reader.ok()) return reader.failure();
  if (settings.empty()) return read;
  Result<Model> changed = read.with(settings);
  if (!changed && !of_files.empty()) return blame(read, of_files, changed.failure());
  return changed;
}

void CommonOptions::warn(const std::string& line) const {
  if (embedding) {
    embedding->warnings.push_back(line);
  } else {
    say(line + "\n");
  }
}

}  // namespace kinegraph::cli

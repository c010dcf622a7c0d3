#include "kinegraph/model/evaluation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <iterator>
#include <utility>

#include "kinegraph/base/names.hpp"
#include "kinegraph/model/check.hpp"

namespace kinegraph {

const Field* ElementSource::find(std::string_view key) const {
  const auto found = fields.find(key);
  return found == fields.end() || found->second.faulty ? nullptr : &found->second;
}

const Text* ElementSource::text(std::string_view key) const {
  const Field* field = find(key);
  return field && !field->list ? &field->items.front() : nullptr;
}

namespace {

/// The character that begins here, in UTF-8; 0: none does.
unsigned character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
  const unsigned first = byte(0);
  if (first < 0x80) return first;
  const unsigned more = first >= 0xF0 ? 3 : first >= 0xE0 ? 2 : first >= 0xC0 ? 1 : 0;
  unsigned c = more > 0 ? first & (0x3FU >> more) : 0;
  for (unsigned i = 1; i <= more; ++i) c = (c << 6) + (byte(i) & 0x3FU);
  return c;
}

/// Beyond ASCII: controls, blanks, punctuation, and marks that are not seen or turn the direction of what follows.
bool is_no_letter(unsigned c) {
  constexpr std::pair<unsigned, unsigned> kRanges[] = {
      {0x80, 0xA0},     {0xAD, 0xAD},     {0x1680, 0x1680}, {0x180B, 0x180F}, {0x2000, 0x206F},
      {0x3000, 0x3000}, {0xFE00, 0xFE0F}, {0xFEFF, 0xFEFF}, {0xFFF0, 0xFFFF}, {0xE0000, 0xFFFFFF}};
  return std::any_of(std::begin(kRanges), std::end(kRanges),
                     [&](const auto& range) { return c >= range.first && c <= range.second; });
}

}  // namespace

bool is_identifier(std::string_view name) {
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (is_no_letter(character(name.substr(i)))) return false;
  }
  const auto letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || static_cast<unsigned char>(c) >= 0x80;
  };
  if (name.empty() || !letter(name.front())) return false;
  return std::all_of(name.begin(), name.end(), [&](char c) { return letter(c) || (c >= '0' && c <= '9'); });
}

Evaluation::Evaluation(std::shared_ptr<const ModelSource> source, const Settings& settings,
                       std::vector<Diagnostic> found)
    : source_(std::move(source)),
      diagnostics_(std::move(found)),
      quantities_(model_.settings, diagnostics_),
      sensor_elements_(quantities_, diagnostics_, false) {
  model_.settings = settings;
}

Result<Model> Evaluation::run() {
  model_.file = source_->file;
  model_.source = source_;
  model_.name = source_->name ? source_->name->text : std::filesystem::path(source_->file).stem().string();
  name_elements();
  parameters();
  gravity();
  points();
  bodies();
  relative_coordinates();
  sliders();
  drivers();
  springs(Section::springs, 0);
  springs(Section::dampers, static_cast<int>(source_->of(Section::springs).size()));
  coordinate_springs(Section::coordinate_springs, 0);
  coordinate_springs(Section::coordinate_dampers, static_cast<int>(source_->of(Section::coordinate_springs).size()));
  motors();
  loads();
  torques();
  joint_frictions();
  sensors();
  disturbances();
  unknowns();
  initial();
  check_settings();
  quantities_.evaluate();
  finish_bodies();
  finish_sensors();
  finish_initial();
  return conclude();
}

std::string Evaluation::element_name(const ElementSource& element, const std::string& fallback, Group group) {
  const Text* given = element.text("name");
  std::string name = given ? given->text : fallback;
  if (given && !is_identifier(name)) {
    error(given->where,
          fmt::format("name {}: expected letters, digits and '_', not starting with a digit", quote(name)));
    return fallback;
  }
  if (!name.empty() && !used_names_.emplace(group, name).second) {
    error(given ? given->where : element.where, "duplicate name " + quote(name));
  }
  return name;
}

void Evaluation::name_elements() {
  const auto resize = [this](auto& list, Section section, auto&& name) {
    const auto& elements = source_->of(section);
    list.resize(elements.size());
    for (std::size_t i = 0; i < elements.size(); ++i) {
      list[i].where = elements[i].where;
      list[i].name = name(elements[i], i);
    }
  };
  const auto numbered = [this](const char* prefix, Group group) {
    return [this, prefix, group](const ElementSource& element, std::size_t i) {
      return element_name(element, fmt::format("{}{}", prefix, i), group);
    };
  };
  resize(model_.points, Section::points, numbered("", Group::located));
  resize(model_.bodies, Section::planar_bodies, numbered("body", Group::bodies));
  resize(model_.relative, Section::relative_coordinates, [this](const ElementSource& element, std::size_t i) {
    const Text* type = element.text("type");
    const bool position = type && type->text == "relative_position";
    return element_name(element, fmt::format("{}{}", position ? "position" : "angle", i), Group::located);
  });
  resize(model_.sliders, Section::sliders, numbered("slider", Group::sliders));
  resize(model_.loads, Section::loads, numbered("load", Group::located));
  resize(model_.torques, Section::torques, numbered("torque", Group::torques));
  const auto as_coordinate = [this](Group group) {
    return [this, group](const ElementSource& element, std::size_t) {
      const Text* coordinate = element.text("coordinate");
      return element_name(element, coordinate ? coordinate->text : "", group);
    };
  };
  resize(model_.motors, Section::motors, as_coordinate(Group::torques));
  resize(model_.drivers, Section::drivers, as_coordinate(Group::drivers));
  const auto size = [this](Section section) { return source_->of(section).size(); };
  model_.springs.resize(size(Section::springs) + size(Section::dampers));
  name_springs(Section::springs, "spring", 0, false);
  name_springs(Section::dampers, "damper", static_cast<int>(size(Section::springs)), false);
  model_.coordinate_springs.resize(size(Section::coordinate_springs) + size(Section::coordinate_dampers));
  name_springs(Section::coordinate_springs, "coordinate_spring", 0, true);
  name_springs(Section::coordinate_dampers, "coordinate_damper", static_cast<int>(size(Section::coordinate_springs)),
               true);

  const auto index = [](Lookup& lookup, const auto& list) {
    for (std::size_t i = 0; i < list.size(); ++i) lookup.emplace(list[i].name, static_cast<int>(i));
  };
  index(points_by_name_, model_.points);
  index(bodies_by_name_, model_.bodies);
  index(relative_by_name_, model_.relative);
}

void Evaluation::name_springs(Section section, const std::string& prefix, int first, bool coordinate) {
  const auto& elements = source_->of(section);
  for (std::size_t i = 0; i < elements.size(); ++i) {
    const std::string name = element_name(elements[i], fmt::format("{}{}", prefix, i), Group::springs);
    const std::size_t at = first + i;
    (coordinate ? model_.coordinate_springs[at].name : model_.springs[at].name) = name;
    (coordinate ? model_.coordinate_springs[at].where : model_.springs[at].where) = elements[i].where;
  }
}

int Evaluation::find_point(const std::string& name) const {
  if (const auto found = points_by_name_.find(name); found != points_by_name_.end()) return found->second;
  int index = -1;
  const auto [end, fault] = std::from_chars(name.data(), name.data() + name.size(), index);
  const bool whole = fault == std::errc() && end == name.data() + name.size();
  return whole && index >= 0 && index < static_cast<int>(model_.points.size()) ? index : -1;
}

PointIndex Evaluation::point(const Text& text) {
  const int index = find_point(text.text);
  if (index >= 0) return PointIndex(index);
  const bool number = !text.text.empty() && text.text.find_first_not_of("0123456789-") == std::string::npos;
  if (number && !model_.points.empty()) {
    error(text.where,
          fmt::format("unknown point {}; points are numbered 0 to {}", quote(text.text), model_.points.size() - 1));
  } else {
    unknown("point", text, model_.points);
  }
  return {};
}

BodyIndex Evaluation::body(const Text& text) {
  const auto found = bodies_by_name_.find(text.text);
  if (found != bodies_by_name_.end()) return BodyIndex(found->second);
  unknown("body", text, model_.bodies);
  return {};
}

RelativeIndex Evaluation::relative(const Text& text) {
  std::string name = text.text;
  if (name.ends_with(".q")) name.resize(name.size() - 2);
  const auto found = relative_by_name_.find(name);
  if (found != relative_by_name_.end()) return RelativeIndex(found->second);
  unknown("relative coordinate", text, model_.relative);
  return {};
}

std::optional<CoordinateRef> Evaluation::coordinate(const std::string& name) const {
  const std::size_t dot = name.rfind('.');
  const std::string element = name.substr(0, dot);
  const std::string quantity = dot == std::string::npos ? "" : name.substr(dot + 1);
  if (quantity.empty() || quantity == "q") {
    const auto found = relative_by_name_.find(element);
    if (found != relative_by_name_.end()) return CoordinateRef{CoordinateRef::What::relative, found->second};
  }
  const int point = find_point(element);
  if (point >= 0 && quantity == "x") return CoordinateRef{CoordinateRef::What::point_x, point};
  if (point >= 0 && quantity == "y") return CoordinateRef{CoordinateRef::What::point_y, point};
  return std::nullopt;
}

std::vector<PointIndex> Evaluation::points_of(const ElementSource& element, std::string_view key, std::size_t least,
                                              std::size_t most) {
  const Field* field = element.find(key);
  if (!field) return {};
  const std::size_t given = field->items.size();
  if (given < least || given > most) {
    error(field->where,
          fmt::format("{}: expected {} points{}, found {}", key, least, most > least ? " or more" : "", given));
    return {};
  }
  std::vector<PointIndex> points;
  for (const Text& item : field->items) points.push_back(point(item));
  return points;
}

void Evaluation::check_settings() {
  for (const auto& [name, value] : model_.settings) {
    if (quantities_.settable(name) || other_settable_.contains(name)) continue;
    std::vector<std::string> known = quantities_.settable_names();
    known.insert(known.end(), other_settable_.begin(), other_settable_.end());
    const std::string guess =
        other_settable_.contains(name + ".q") ? "; did you mean '" + name + ".q'?" : did_you_mean(name, known);
    error({}, "cannot set " + quote(name) + ": no such parameter, quantity or initial value" + guess);
  }
}

void Evaluation::error(const Location& where, std::string message) {
  diagnostics_.push_back({Severity::error, where, std::move(message)});
}

void Evaluation::warning(const Location& where, std::string message) {
  diagnostics_.push_back({Severity::warning, where, std::move(message)});
}

Result<Model> Evaluation::conclude() {
  const auto is_error = [](const Diagnostic& d) { return d.severity == Severity::error; };
  const bool complete = std::none_of(diagnostics_.begin(), diagnostics_.end(), is_error);
  const std::vector<Diagnostic> broken = complete ? check_model(model_) : check_rules(model_);
  diagnostics_.insert(diagnostics_.end(), broken.begin(), broken.end());
  std::stable_sort(diagnostics_.begin(), diagnostics_.end(), [](const Diagnostic& a, const Diagnostic& b) {
    return std::pair(a.where.line, a.where.column) < std::pair(b.where.line, b.where.column);
  });
  if (std::none_of(diagnostics_.begin(), diagnostics_.end(), is_error)) {
    model_.warnings = std::move(diagnostics_);
    if (model_.warnings.size() > kMostFaults) model_.warnings.resize(kMostFaults);
    return std::move(model_);
  }
  Failure failure{Failure::Kind::bad_input, {}};
  std::copy_if(diagnostics_.begin(), diagnostics_.end(), std::back_inserter(failure.diagnostics), is_error);
  if (failure.diagnostics.size() > kMostFaults) {
    const std::size_t more = failure.diagnostics.size() - kMostFaults;
    failure.diagnostics.resize(kMostFaults);
    failure.diagnostics.push_back({Severity::error, {source_->file, 0, 0}, fmt::format("… and {} more faults", more)});
  }
  return failure;
}

Result<Model> evaluate(std::shared_ptr<const ModelSource> source, const Settings& settings,
                       std::vector<Diagnostic> found) {
  return Evaluation(std::move(source), settings, std::move(found)).run();
}

Settings values_of(std::shared_ptr<const ModelSource> source, const Settings& settings) {
  Evaluation evaluation(std::move(source), settings, {});
  return evaluation.run() ? evaluation.values() : Settings{};
}

}  // namespace kinegraph

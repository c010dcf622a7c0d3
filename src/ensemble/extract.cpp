#include "kinegraph/ensemble/extract.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

namespace kinegraph::ensemble {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kColumns = "columns.";
constexpr const char* kStatistics[] = {"min", "max", "mean", "sd", "rms", "first", "last", "count"};

std::optional<int> whole(std::string_view text) {
  int n = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size() || n < 0) return {};
  return n;
}

/// "p5", "p97.5"
std::optional<double> percentile(std::string_view name) {
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  if (name.size() < 2 || name[0] != 'p' || !digit(name[1]) || !digit(name.back())) return {};
  double p = 0;
  const auto [end, error] = std::from_chars(name.data() + 1, name.data() + name.size(), p, std::chars_format::fixed);
  if (error != std::errc{} || end != name.data() + name.size() || p > 100) return {};
  return p;
}

bool is_statistic(std::string_view name) {
  return percentile(name) || std::find(std::begin(kStatistics), std::end(kStatistics), name) != std::end(kStatistics);
}

/// Where the statistic at the end of a path begins: behind the last dot, or behind the one before it ("q.p2.5"); npos
/// if there is none.
std::size_t statistic_of(std::string_view path) {
  std::size_t dot = path.rfind('.');
  for (int dots = 0; dots < 2 && dot != std::string_view::npos && dot > 0; ++dots) {
    if (is_statistic(path.substr(dot + 1))) return dot + 1;
    dot = path.rfind('.', dot - 1);
  }
  return std::string_view::npos;
}

/// Linear between neighbours in order.
double quantile(std::vector<double> x, double share) {
  const double at = share * static_cast<double>(x.size() - 1);
  const auto low = static_cast<std::ptrdiff_t>(std::floor(at));
  std::nth_element(x.begin(), x.begin() + low, x.end());
  const double below = x[static_cast<std::size_t>(low)], rest = at - std::floor(at);
  return rest == 0 ? below : below + rest * (*std::min_element(x.begin() + low + 1, x.end()) - below);
}

/// Of the numbers that are finite.
Cell statistic(std::string_view name, std::vector<double> x) {
  x.erase(std::remove_if(x.begin(), x.end(), [](double v) { return !std::isfinite(v); }), x.end());
  const auto n = static_cast<double>(x.size());
  if (name == "count") return Cell::of(n);
  if (x.empty()) return {};
  if (name == "first") return Cell::of(x.front());
  if (name == "last") return Cell::of(x.back());
  if (name == "min") return Cell::of(*std::min_element(x.begin(), x.end()));
  if (name == "max") return Cell::of(*std::max_element(x.begin(), x.end()));
  if (const auto p = percentile(name)) return Cell::of(quantile(std::move(x), *p / 100.0));
  double sum = 0, squares = 0;
  for (const double v : x) sum += v, squares += v * v;
  if (name == "rms") return Cell::of(std::sqrt(squares / n));
  const double mean = sum / n;
  if (name == "mean") return Cell::of(mean);
  if (x.size() < 2) return {};
  double deviations = 0;
  for (const double v : x) deviations += (v - mean) * (v - mean);
  return Cell::of(std::sqrt(deviations / (n - 1)));
}

Extracted value_of(const Json& node) {
  if (node.is_null()) return {true, "", {}};
  if (node.is_boolean()) return {true, "", Cell::of(node.get<bool>() ? 1.0 : 0.0)};
  if (node.is_number()) {
    const double x = node.get<double>();
    return {true, "", std::isfinite(x) ? Cell::of(x) : Cell{}};
  }
  if (node.is_string()) return {true, "", Cell::of(node.get<std::string>())};
  if (node.is_array()) return {false, "is a list: name an element (.0) or a statistic (.max, .count)", {}};
  return {false, "is a map: name one of its values", {}};
}

bool leads(std::string_view path, std::string_view key) {
  return path.starts_with(key) && (path.size() == key.size() || path[key.size()] == '.');
}

std::string_view after(std::string_view path, std::size_t size) {
  return path.size() > size ? path.substr(size + 1) : std::string_view();
}

Extracted find(const Json& node, std::string_view path);

Extracted find_in_list(const Json& list, std::string_view path) {
  const std::string_view head = path.substr(0, path.find('.'));
  if (const auto i = whole(head)) {
    if (*i < static_cast<int>(list.size())) return find(list[static_cast<std::size_t>(*i)], after(path, head.size()));
    return {false, fmt::format("has {} elements", list.size()), {}};
  }
  for (const Json& item : list) {
    const auto name = item.is_object() ? item.find("name") : item.end();
    if (!item.is_object() || name == item.end() || !name->is_string()) continue;
    const auto& text = name->get_ref<const std::string&>();
    if (!text.empty() && leads(path, text)) return find(item, after(path, text.size()));
  }
  if (!is_statistic(path)) return {};
  std::vector<double> numbers;
  for (const Json& item : list) {
    if (item.is_number()) numbers.push_back(item.get<double>());
  }
  if (path == "count") return {true, "", Cell::of(static_cast<double>(list.size()))};
  return {true, "", statistic(path, std::move(numbers))};
}

Extracted find(const Json& node, std::string_view path) {
  if (path.empty()) return value_of(node);
  if (node.is_array()) return find_in_list(node, path);
  if (!node.is_object()) return {};
  Extracted last;
  for (const auto& [key, value] : node.items()) {
    if (!leads(path, key)) continue;
    last = find(value, after(path, key.size()));
    if (last.found) return last;
  }
  return last;
}

void collect(const Json& node, const std::string& path, std::vector<std::string>& all) {
  constexpr std::size_t kMost = 20000;
  if (all.size() > kMost) return;
  const auto below = [&](const std::string& name) { return path.empty() ? name : path + "." + name; };
  if (node.is_object()) {
    for (const auto& [key, value] : node.items()) collect(value, below(key), all);
  } else if (node.is_array()) {
    all.push_back(below("count"));
    for (std::size_t i = 0; i < node.size(); ++i) {
      if (i == 0 && node[i].is_number()) {
        for (const char* name : kStatistics) all.push_back(below(name));
      }
      const bool named = node[i].is_object() && node[i].contains("name") && node[i]["name"].is_string();
      collect(node[i], below(named ? node[i]["name"].get<std::string>() : std::to_string(i)), all);
    }
  } else {
    all.push_back(path);
  }
}

}  // namespace

std::vector<std::string> statistic_names() {
  std::vector<std::string> names(std::begin(kStatistics), std::end(kStatistics));
  for (const char* name : {"p5", "p50", "p95"}) names.emplace_back(name);
  return names;
}

bool asks_for_column(const std::string& path) { return path.starts_with(kColumns); }

Extracted extract(const Json& summary, const Trajectory& trajectory, const std::string& path) {
  if (!asks_for_column(path)) return find(summary, path);
  const std::string rest = path.substr(kColumns.size());
  const std::size_t begin = statistic_of(rest);
  if (begin == std::string_view::npos) {
    if (trajectory.find(rest) < 0 && rest != "t") return {};
    return {false, "is a column: name a statistic of it (.min, .max, .mean, .sd, .rms, .first, .last, .p95)", {}};
  }
  const std::string_view name = std::string_view(rest).substr(begin);
  const std::string column = rest.substr(0, begin - 1);
  if (column == "t") return {true, "", statistic(name, trajectory.times())};
  const int series = trajectory.find(column);
  if (series < 0) return {};
  return {true, "", statistic(name, trajectory.column(series))};
}

std::vector<std::string> paths_of(const Json& summary, const Trajectory& trajectory) {
  std::vector<std::string> all;
  collect(summary, "", all);
  for (const std::string& column : trajectory.names()) {
    for (const std::string& name : statistic_names()) all.push_back(fmt::format("{}{}.{}", kColumns, column, name));
  }
  return all;
}

}  // namespace kinegraph::ensemble

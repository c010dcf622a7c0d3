#include "kinegraph/ensemble/study.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace kinegraph::ensemble {
namespace {

/// Φ(x), the distribution function of N(0, 1).
double normal_share(double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); }

/// x with Φ(x) = p. A rational approximation (Abramowitz and Stegun, 26.2.23; off by 4.5e-4), then Halley's method on
///
///     e = (Φ(x) − p) / φ(x),    x ← x − e / (1 + x e / 2)
///
/// on the side p ≤ ½, where erfc has all its digits.
double normal_quantile(double p) {
  if (p > 0.5) return -normal_quantile(1 - p);
  const double t = std::sqrt(-2 * std::log(std::max(p, std::numeric_limits<double>::min())));
  double x = -(t - (2.515517 + t * (0.802853 + t * 0.010328)) / (1 + t * (1.432788 + t * (0.189269 + t * 0.001308))));
  for (int i = 0; i < 3; ++i) {
    const double e = (normal_share(x) - p) * std::sqrt(2 * M_PI) * std::exp(0.5 * x * x);
    x -= e / (1 + 0.5 * x * e);
  }
  return x;
}

std::string text_of(const Varied& varied) {
  if (const auto* grid = std::get_if<Grid>(&varied.values)) {
    return fmt::format("{} {} to {}, {} values, step {}", grid->logarithmic ? "log" : "linear", grid->from, grid->to,
                       grid->count, grid->step);
  }
  if (const auto* choices = std::get_if<Choices>(&varied.values)) {
    std::string text = "list";
    for (const std::string& choice : choices->texts) text += " " + choice;
    return text;
  }
  static const char* const names[] = {"normal", "uniform", "log-uniform"};
  const Distribution& d = *varied.distribution();
  return fmt::format("{} mean {} sd {} low {} high {}", names[static_cast<int>(d.type)], d.mean, d.sd, d.low, d.high);
}

}  // namespace

double Grid::at(std::uint64_t i) const {
  const auto n = static_cast<double>(i);
  if (step != 0) return from + n * step;
  if (i + 1 == count) return count > 1 ? to : from;
  const double share = n / static_cast<double>(count - 1);
  return logarithmic ? from * std::pow(to / from, share) : from + share * (to - from);
}

double Distribution::quantile(double u) const {
  switch (type) {
    case Type::uniform:
      return low + u * (high - low);
    case Type::log_uniform:
      return low * std::pow(high / low, u);
    case Type::normal:
      break;
  }
  const double below = normal_share((low - mean) / sd), until = normal_share((high - mean) / sd);
  return std::clamp(mean + sd * normal_quantile(below + u * (until - below)), low, high);
}

std::size_t Study::distributions() const {
  return static_cast<std::size_t>(
      std::count_if(vary.begin(), vary.end(), [](const Varied& v) { return v.distribution() != nullptr; }));
}

std::vector<std::string> Study::content() const {
  std::vector<std::string> lines{"verb: " + verb.text, "model: " + model.text};
  for (const FixedOption& option : options) {
    std::string line = "option " + option.name.text + ":";
    for (const TaskName& value : option.values) line += " " + value.text;
    lines.push_back(line);
  }
  for (const Varied& varied : vary) lines.push_back(fmt::format("vary {}: {}", varied.written(), text_of(varied)));
  lines.push_back(fmt::format("design: {}", to_string(design)));
  lines.push_back(fmt::format("samples: {}", samples));
  lines.push_back(fmt::format("repetitions: {}", repetitions));
  lines.push_back(fmt::format("seed: {}", seed));
  for (const StudyOutput& output : outputs)
    lines.push_back(fmt::format("output {}: {}", output.name, output.path.text));
  return lines;
}

const char* to_string(Study::Joint design) {
  static const char* const names[] = {"random", "latin-hypercube", "sobol"};
  return names[static_cast<int>(design)];
}

bool is_number(const std::string& text) {
  double value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  return read.ec == std::errc() && read.ptr == text.data() + text.size();
}

}  // namespace kinegraph::ensemble

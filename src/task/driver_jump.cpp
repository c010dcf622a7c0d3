#include "kinegraph/task/driver_jump.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "kinegraph/base/names.hpp"

namespace kinegraph::task {
namespace {

constexpr double kLeastJump = 1e-6;  // rad, m: less is how files are rounded

/// By how much the position is not the way that the velocities at both ends say:   |Δq − h (v₀ + v₁)/2|
double mismatch(double h, const Taylor2& from, const Taylor2& to) {
  return std::abs(to.x - from.x - 0.5 * h * (from.d + to.d));
}

/// Where in [a, b] the position jumps: the half with the larger mismatch, again and again. What a law without jumps
/// changes by in the end is rounding, however fast it is.
double find_jump(const Law& law, double& a, double b) {
  constexpr int kHalvings = 40;
  Taylor2 from = law.taylor(a), to = law.taylor(b);
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = 0.5 * (a + b);
    if (!(middle > a && middle < b)) break;
    const Taylor2 at = law.taylor(middle);
    const double first = mismatch(middle - a, from, at), second = mismatch(b - middle, at, to);
    if (std::max(first, second) <= kLeastJump) return 0;
    if (first > second) {
      b = middle, to = at;
    } else {
      a = middle, from = at;
    }
  }
  return to.x - from.x;
}

/// What of a law at some time is not a finite number; nothing where all is.
const char* not_finite(const Taylor2& at) {
  if (!std::isfinite(at.x)) return "position";
  if (!std::isfinite(at.d)) return "velocity";
  return std::isfinite(at.dd) ? nullptr : "acceleration";
}

}  // namespace

Result<std::monostate> check_drivers(const Model& model, double time, double step, const Progress& progress) {
  const long steps = std::max(1L, std::lround(time / step));
  for (const Driver& driver : model.drivers) {
    if (driver.law.is_constant()) continue;
    const std::string name = quote(driver.name.empty() ? model.name_of(driver.coordinate) : driver.name);
    Taylor2 from;
    for (long k = 0; k <= steps; ++k) {
      const Taylor2 to = driver.law.taylor(double(k) * step);
      if (const char* what = not_finite(to)) {
        return Failure::no_answer(
            fmt::format("driver {} has no finite {} at t = {:.6g} s: its law cannot be computed "
                        "there, or has no derivative",
                        name, what, double(k) * step));
      }
      if (k > 0 && mismatch(step, from, to) > kLeastJump) {
        double at = double(k - 1) * step;
        const double jump = find_jump(driver.law, at, double(k) * step);
        if (std::abs(jump) > kLeastJump) {
          return Failure::no_answer(fmt::format(
              "driver {} jumps by {:.3g} at t = {:.6g} s: there is no motion through a jump; give it a law that goes "
              "there in some time",
              name, jump, at));
        }
      }
      from = to;
      if (progress && k % 65536 == 0 && !progress(0)) return Failure::interrupted();
    }
  }
  return std::monostate{};
}

Result<std::monostate> check_forces(const Model& model, double time, double step, const Progress& progress) {
  struct Given {
    std::string what;  // "motor 'theta' has no finite torque"
    const Law* law;
  };
  std::vector<Given> all;
  const auto add = [&](const char* kind, const std::string& name, const char* what, const Law& law) {
    if (!law.is_constant()) all.push_back({fmt::format("{} {} has no finite {}", kind, quote(name), what), &law});
  };
  for (const Motor& m : model.motors) add("motor", m.name, "torque", m.torque);
  for (const PointLoad& l : model.loads) add("load", l.name, "x", l.x), add("load", l.name, "y", l.y);
  for (const BodyTorque& l : model.torques) add("load", l.name, "torque", l.torque);
  const long steps = std::max(1L, std::lround(time / step));
  for (long k = 0; k <= steps && !all.empty(); ++k) {
    for (const Given& given : all) {
      if (std::isfinite((*given.law)(double(k) * step))) continue;
      return Failure::no_answer(
          fmt::format("{} at t = {:.6g} s: its law cannot be computed there", given.what, double(k) * step));
    }
    if (progress && k % 65536 == 0 && !progress(0)) return Failure::interrupted();
  }
  return std::monostate{};
}

}  // namespace kinegraph::task

#include "kinegraph/report/plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "kinegraph/base/names.hpp"

namespace kinegraph::report {
namespace {

constexpr double kWidth = 760, kHeight = 440;
constexpr double kLeft = 76, kRight = 24, kTop = 68, kBottom = 58;  ///< kLeft, kTop: at least
constexpr double kLetter = 7.5;                                     ///< about the width of one
constexpr double kLine = 18;                                        ///< of the legend: height
constexpr int kMostPoints = 2000;                                   ///< per curve: more than pixels
// Distinct for most kinds of colour vision, and in grey.
constexpr const char* kColours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00"};

struct AxisRange {
  double low = std::numeric_limits<double>::infinity(), high = -std::numeric_limits<double>::infinity();

  void add(double value) {
    if (!std::isfinite(value)) return;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  double length() const { return high - low; }
  void widen(double share) {
    if (!(low <= high)) low = 0, high = 1;
    const double by = length() > 0 ? share * length() : std::max(0.5, 0.1 * std::abs(low));
    low -= by;
    high += by;
  }
  void stretch_to(double length_wanted) {
    const double by = (length_wanted - length()) / 2;
    low -= by;
    high += by;
  }
};

/// With a real minus sign, and powers of ten as such: "−2·10⁻⁷" for "-2e-07".
std::string typeset(const std::string& text) {
  constexpr const char* kRaised[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  const std::size_t e = text.find('e');
  std::string digits = text.substr(0, e);
  if (digits.starts_with('-')) digits = "−" + digits.substr(1);
  if (e == std::string::npos) return digits;
  const int power = std::stoi(text.substr(e + 1));
  std::string out = digits == "1" ? "10" : digits == "−1" ? "−10" : digits + "·10";
  if (power < 0) out += "⁻";
  for (const char digit : std::to_string(std::abs(power))) out += kRaised[digit - '0'];
  return out;
}

/// The digits that tell two ticks apart.
std::string tick_text(double value, double step) {
  const int decimals = std::max(0, static_cast<int>(std::ceil(-std::log10(step) - 1e-9)));
  if (decimals <= 5 && std::abs(value) < 1e6) return typeset(fmt::format("{:.{}f}", value, decimals));
  const double steps = std::abs(value) / step;
  return typeset(fmt::format("{:.{}g}", value, steps < 1 ? 1 : 1 + static_cast<int>(std::log10(steps) + 1e-9)));
}

/// Powers of ten within a range of logarithms, with 2 and 5 times them where there would be few; within less than a
/// power of ten round numbers.
std::vector<double> decades(double low, double high) {
  if (high - low < 0.7) {
    std::vector<double> at = ticks(std::pow(10.0, low), std::pow(10.0, high), 4);
    for (double& value : at) value = std::log10(value);
    return at;
  }
  std::vector<double> at;
  const bool few = high - low < 2.5;
  for (double k = std::floor(low); k <= high; ++k) {
    for (const double m : {1.0, 2.0, 5.0}) {
      const double value = k + std::log10(m);
      if ((m == 1.0 || few) && value >= low - 1e-9 && value <= high + 1e-9) at.push_back(value);
    }
  }
  return at;
}

std::string axis_text(bool logarithmic, double value, const std::vector<double>& at) {
  if (logarithmic) {
    const double number = std::pow(10.0, value), power = std::floor(value + 1e-9);
    return typeset(number >= 0.9e5 || number < 0.9e-3
                       ? fmt::format("{:.3g}e{:.0f}", number * std::pow(10.0, -power), power)
                       : fmt::format("{:.5g}", number));
  }
  return tick_text(value, at.size() > 1 ? at[1] - at[0] : 1);
}

class Drawing {
 public:
  explicit Drawing(const Plot& plot) : plot_(plot) {
    for (const Curve& curve : plot.curves) {
      for (const double x : curve.x) x_.add(on_x(x));
      for (const double y : curve.y) y_.add(on_y(y));
    }
    for (const Band& band : plot.bands) {
      for (const auto* side : {&band.low, &band.high}) {
        for (const double y : *side) y_.add(on_y(y));
      }
    }
    x_.widen(plot.equal_scales ? 0.06 : 0);
    y_.widen(0.06);
    for (const std::string& tick : y_ticks().second) left_ = std::max(left_, 44 + kLetter * characters(tick));
    place_legend();
    if (plot.equal_scales) {
      const double metres_per_pixel = std::max(x_.length() / plot_width(), y_.length() / plot_height());
      x_.stretch_to(metres_per_pixel * plot_width());
      y_.stretch_to(metres_per_pixel * plot_height());
    }
  }

  std::string draw() {
    out_ = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" "
        "font-family=\"Helvetica, Arial, sans-serif\" font-size=\"13\" fill=\"#222\">\n"
        "<rect width=\"{0}\" height=\"{1}\" fill=\"white\"/>\n",
        kWidth, kHeight);
    text(left_, 26, "start", "<tspan font-size=\"16\" font-weight=\"bold\">" + xml_escape(plot_.title) + "</tspan>");
    x_axis();
    y_axis();
    for (std::size_t i = 0; i < plot_.bands.size(); ++i) band(plot_.bands[i], colour(i));
    for (std::size_t i = 0; i < plot_.curves.size(); ++i) curve(plot_.curves[i], colour(i));
    legend();
    return out_ + "</svg>\n";
  }

 private:
  double plot_width() const { return kWidth - left_ - kRight; }
  double plot_height() const { return kHeight - top_ - kBottom; }
  static const char* colour(std::size_t i) { return kColours[i % std::size(kColours)]; }
  double on_x(double x) const { return plot_.log_x ? std::log10(x) : x; }  // not finite where it cannot be shown
  double on_y(double y) const { return plot_.log_y ? std::log10(y) : y; }
  double px(double x) const { return left_ + (x - x_.low) / x_.length() * plot_width(); }
  double py(double y) const { return kHeight - kBottom - (y - y_.low) / y_.length() * plot_height(); }

  void text(double x, double y, const char* anchor, const std::string& content, const std::string& more = "") {
    out_ +=
        fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\"{}>{}</text>\n", x, y, anchor, more, content);
  }
  void line(double x1, double y1, double x2, double y2, const char* stroke) {
    out_ += fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"{}\"/>\n", x1, y1, x2,
                        y2, stroke);
  }

  void x_axis() {
    const std::vector<double> at = plot_.log_x ? decades(x_.low, x_.high) : ticks(x_.low, x_.high, 8);
    const double bottom = kHeight - kBottom;
    for (const double x : at) {
      line(px(x), top_, px(x), bottom, "#e4e4e4");
      text(px(x), bottom + 19, "middle", axis_text(plot_.log_x, x, at));
    }
    line(left_, bottom, kWidth - kRight, bottom, "#444");
    text(left_ + plot_width() / 2, kHeight - 14, "middle", xml_escape(plot_.x_label));
  }

  /// Where they are, and what stands there.
  std::pair<std::vector<double>, std::vector<std::string>> y_ticks() const {
    std::vector<double> at = plot_.log_y ? decades(y_.low, y_.high) : ticks(y_.low, y_.high, 6);
    std::vector<std::string> texts;
    for (const double y : at) texts.push_back(axis_text(plot_.log_y, y, at));
    return {std::move(at), std::move(texts)};
  }

  void y_axis() {
    const auto [at, texts] = y_ticks();
    for (std::size_t i = 0; i < at.size(); ++i) {
      line(left_, py(at[i]), kWidth - kRight, py(at[i]), "#e4e4e4");
      text(left_ - 9, py(at[i]) + 4.5, "end", texts[i]);
    }
    line(left_, top_, left_, kHeight - kBottom, "#444");
    const double middle = top_ + plot_height() / 2;
    text(20, middle, "middle", xml_escape(plot_.y_label), fmt::format(" transform=\"rotate(-90 20 {:.1f})\"", middle));
  }

  void curve(const Curve& curve, const char* stroke) {
    const std::size_t count = std::min(curve.x.size(), curve.y.size());
    const std::size_t stride = std::max<std::size_t>(1, (count + kMostPoints - 1) / kMostPoints);
    std::string points;
    for (std::size_t i = 0; i < count; i += stride) add_point(points, curve.x[i], curve.y[i]);
    if (count > 0) add_point(points, curve.x[count - 1], curve.y[count - 1]);
    out_ += fmt::format(
        "<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"1.8\" stroke-linejoin=\"round\"{}/>\n",
        points, stroke, dashes(curve));
  }

  void add_point(std::string& points, double x, double y) const {
    const double u = on_x(x), v = on_y(y);
    if (std::isfinite(u) && std::isfinite(v)) points += fmt::format("{:.2f},{:.2f} ", px(u), py(v));
  }

  void band(const Band& band, const char* fill) {
    const std::size_t count = std::min({band.x.size(), band.low.size(), band.high.size()});
    const std::size_t stride = std::max<std::size_t>(1, (count + kMostPoints - 1) / kMostPoints);
    std::string points;
    for (std::size_t i = 0; i < count; i += stride) add_point(points, band.x[i], band.high[i]);
    for (std::size_t i = (count + stride - 1) / stride; i-- > 0;)
      add_point(points, band.x[i * stride], band.low[i * stride]);
    out_ += fmt::format("<polygon points=\"{}\" fill=\"{}\" fill-opacity=\"0.18\"/>\n", points, fill);
  }

  static const char* dashes(const Curve& curve) { return curve.dashed ? " stroke-dasharray=\"7 4\"" : ""; }

  /// As many lines as the labels need.
  void place_legend() {
    double x = left_, y = 46;
    for (const Curve& curve : plot_.curves) {
      const double width = 28 + kLetter * characters(curve.label);
      if (x > left_ && x + width > kWidth - kRight) x = left_, y += kLine;
      labels_.emplace_back(x, y);
      x += width + 22;
    }
    top_ = y + kTop - 46;
  }

  void legend() {
    for (std::size_t i = 0; i < plot_.curves.size(); ++i) {
      const double x = labels_[i].first, y = labels_[i].second;
      out_ += fmt::format(
          "<line x1=\"{0:.1f}\" y1=\"{3}\" x2=\"{1:.1f}\" y2=\"{3}\" stroke=\"{2}\" stroke-width=\"3\"{4}/>\n", x,
          x + 22, colour(i), y, dashes(plot_.curves[i]));
      text(x + 28, y + 4.5, "start", xml_escape(plot_.curves[i].label));
    }
  }

  const Plot& plot_;
  AxisRange x_, y_;
  double left_ = kLeft, top_ = kTop;
  std::vector<std::pair<double, double>> labels_;  // of the legend
  std::string out_;
};

}  // namespace

std::vector<double> ticks(double low, double high, int count) {
  if (!(high > low)) return {low};
  const double raw = (high - low) / count;
  const double power = std::pow(10.0, std::floor(std::log10(raw)));
  const double step = power * (raw < 1.5 * power ? 1 : raw < 3.5 * power ? 2 : raw < 7.5 * power ? 5 : 10);
  std::vector<double> at;
  for (double k = std::ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; ++k) at.push_back(k * step + 0.0);
  return at;
}

std::string svg(const Plot& plot) { return Drawing(plot).draw(); }

}  // namespace kinegraph::report

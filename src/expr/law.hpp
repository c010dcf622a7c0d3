#pragma once

#include <memory>
#include <vector>

#include "kinegraph/base/taylor.hpp"

namespace kinegraph {

class Expression;

/// A recording: straight lines between samples, the first and last value held beyond the ends. Times increase.
struct Recording {
  std::vector<double> times, values;

  Taylor2 taylor(double t) const;
};

/// A function of time with its exact first and second derivatives. A constant unless made from an expression
/// of t or from a recording.
class Law {
 public:
  Law(double constant = 0) : constant_(constant) {}
  explicit Law(std::shared_ptr<const Expression> of_t);
  explicit Law(std::shared_ptr<const Recording> recording) : recording_(std::move(recording)) {}

  double operator()(double t) const;
  Taylor2 taylor(double t) const;  ///< value, d/dt, d²/dt²
  bool is_constant() const { return !expression_ && !recording_; }

 private:
  double constant_ = 0;
  std::shared_ptr<const Expression> expression_;
  std::shared_ptr<const Recording> recording_;
};

}  // namespace kinegraph

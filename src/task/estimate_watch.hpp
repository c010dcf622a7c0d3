#pragma once

#include <vector>

#include "kinegraph/filter/consistency.hpp"
#include "kinegraph/model/trajectory.hpp"
#include "kinegraph/task/estimate.hpp"

namespace kinegraph::task {

/// Looks at what readings said against what was expected of them: are they as far off as the filter believes, and is
/// each off independently of the one before?
class InnovationWatch {
 public:
  /// `of_filter`: each is what was new in a reading. Residuals of a smoother are not: they lean on each other.
  InnovationWatch(const std::vector<filter::SensorInfo>& sensors, bool keep, bool of_filter = true);

  void add(const filter::Innovation& innovation);
  void refuse(int sensor) { ++refused_[sensor]; }  ///< a reading that came too late

  void tell(EstimateSummary& summary) const;
  /// Row by row what was added: of each channel e and its expected deviation, of each sensor NIS and whether it was
  /// used (0, 1); NaN where a sensor has no reading.
  Trajectory table() const;

 private:
  struct Largest {
    double e = 0, t = 0;                 ///< in standard deviations
    std::vector<double> scaled, offset;  ///< all: |e| in standard deviations, and as it is
  };

  std::vector<filter::SensorInfo> sensors_;
  filter::Consistency consistency_;
  std::vector<std::vector<Largest>> largest_;
  std::vector<long> used_, refused_;
  bool keep_, of_filter_;
  std::vector<filter::Innovation> all_;
};

}  // namespace kinegraph::task

#pragma once

#include <array>
#include <string>
#include <vector>

#include "kinegraph/base/progress.hpp"
#include "kinegraph/io/csv.hpp"
#include "kinegraph/model/model.hpp"

namespace kinegraph {

/// One reading of one sensor, as a log has it.
struct SensorReading {
  static constexpr int kMostChannels = 6;

  double t = 0;                              ///< when it was measured: the time of its row less the sensor's delay
  double arrived = 0;                        ///< the time of its row
  int sensor = 0;                            ///< of Model::sensors
  std::array<double, kMostChannels> y = {};  ///< per channel; NaN: not given
  int file = 0, line = 0;                    ///< of SensorLog::files
};

/// What sensors have recorded, in the order of time (of t; equal times in the order of the files).
struct SensorLog {
  std::vector<std::string> files;
  std::vector<SensorReading> readings;
  std::vector<Diagnostic> warnings;

  Location where(const SensorReading& reading) const { return {files[reading.file], reading.line, 1}; }
};

using ReadTable = std::function<Result<Trajectory>(const std::string& path, const CsvOptions& options)>;

/// Reads tables whose columns are channels of the model's sensors ("gyro.w"); an empty field is a reading that is
/// missing. Each file has a time column of its own, which may stand still but not go backwards. Columns of the
/// machine's motion, as verbs write them, are left out with a warning. Refused, all faults at once: columns that are
/// neither, units in names, sensors of which some columns are missing, two readings of a sensor at one time, files
/// without any.
/// `read`: who reads the tables, where it is not read_csv.
Result<SensorLog> read_sensor_log(const std::vector<std::string>& paths, const Model& model,
                                  const Progress& progress = {}, const ReadTable& read = read_csv);

/// The same from memory; `name` stands in messages.
Result<SensorLog> parse_sensor_log(const std::string& text, const std::string& name, const Model& model);

}  // namespace kinegraph

#pragma once

#include <memory>

#include "kinegraph/filter/estimator.hpp"

namespace kinegraph::filter {

/// Everything that an estimator knows at a time, put aside. Each estimator derives its own.
struct Snapshot {
  virtual ~Snapshot() = default;
};

/// An estimator that takes readings in the order of time only (earlier ones are refused) and that can be set back, so
/// that `Replay` (replay.hpp) can put late readings in their place. What follows a restore() must come out bit by bit
/// as it did after the save(): random numbers too depend on the snapshot and the readings alone.
class Rewindable : public Estimator {
 public:
  virtual std::unique_ptr<Snapshot> snapshot() const = 0;  ///< an empty one, of the right kind
  virtual void save(Snapshot& snapshot) const = 0;         ///< allocates nothing from the second time on
  virtual void restore(const Snapshot& snapshot) = 0;      ///< of save() of this object or of an equal one
  virtual const std::vector<SensorInfo>& sensors() const = 0;
};

}  // namespace kinegraph::filter

#pragma once

#include <memory>
#include <vector>

#include "kinegraph/filter/rewindable.hpp"

namespace kinegraph::filter {

struct ReplayOptions {
  double lag = 0.2;     ///< how late a reading may come, s
  double spacing = -1;  ///< time between snapshots, s; 0: one after every event; negative: a tenth of the lag
};

/// An estimator whose readings may come late: it keeps the readings of the last `lag` seconds and some snapshots. A
/// late reading sets the estimator back to before its time, and what came after it is taken in again: the result is,
/// bit by bit, that of readings in the order of their times (advance() counts as an event at its time; readings of the
/// same time keep the order in which they came).
///
/// A push costs at most one replay of lag + spacing. Readings that are taken in again are not told again. A late
/// reading with which the replay fails is refused, and everything is as before.
class Replay final : public Estimator {
 public:
  explicit Replay(std::unique_ptr<Rewindable> estimator, const ReplayOptions& options = {});
  Replay(const Replay&) = delete;  // the estimator tells its innovations to this object

  Result<std::monostate> push(const Measurement& measurement) override;
  Result<std::monostate> advance(double t) override;
  double t() const override { return estimator_->t(); }
  const Belief& belief() const override { return estimator_->belief(); }
  const std::vector<double>& branches() const override { return estimator_->branches(); }

  Rewindable& estimator() { return *estimator_; }
  std::size_t events() const { return events_.size() - first_; }  ///< kept
  long replayed() const { return replayed_; }                     ///< events taken in again, so far

 private:
  static constexpr int kAdvance = -1;  // in place of a sensor
  struct Kept {
    double t = 0;
    std::size_t before = 0;  // the number of events taken in, ever
    std::unique_ptr<Snapshot> snapshot;
  };
  Result<std::monostate> take(const Measurement& event);
  Result<std::monostate> insert(const Measurement& event);
  Result<std::monostate> replay_from(std::size_t place, bool fresh);  // fresh: what is there is new
  void keep_after(std::size_t events);
  void record(const Measurement& event, bool happened);
  void forget();

  std::unique_ptr<Rewindable> estimator_;
  double lag_, spacing_;
  std::vector<Measurement> events_;   // in the order of time; those before first_ are no more needed
  std::size_t first_ = 0, gone_ = 0;  // gone_: events that have left events_ altogether
  std::vector<Kept> kept_;            // in the order of time
  std::vector<std::unique_ptr<Snapshot>> spare_;
  long replayed_ = 0;
  bool quiet_ = false;
};

}  // namespace kinegraph::filter

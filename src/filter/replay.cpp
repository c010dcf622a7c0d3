#include "kinegraph/filter/replay.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "kinegraph/filter/kalman.hpp"

namespace kinegraph::filter {

Replay::Replay(std::unique_ptr<Rewindable> estimator, const ReplayOptions& options)
    : estimator_(std::move(estimator)),
      lag_(std::max(options.lag, 0.0)),
      spacing_(options.spacing < 0 ? lag_ / 10 : options.spacing) {
  estimator_->on_innovation = [this](const Innovation& i) {
    if (!quiet_ && on_innovation) on_innovation(i);
  };
  const auto most = static_cast<std::size_t>(spacing_ > 0 ? std::min(lag_ / spacing_, 1e4) + 8 : 64);
  kept_.reserve(most), spare_.reserve(most), events_.reserve(256);
  keep_after(0);
}

Result<std::monostate> Replay::push(const Measurement& m) {
  if (auto ok = check(estimator_->sensors(), m); !ok) return ok;
  const SensorInfo& sensor = estimator_->sensors()[m.sensor];
  if (m.t < t() - lag_) return too_late(sensor, m, t(), lag_);
  if (m.t < kept_.front().t) {
    return Failure::no_answer(fmt::format("the reading of '{}' at t = {:g} s is from before the start, {:g} s",
                                          sensor.name, m.t, kept_.front().t));
  }
  if (m.t < t()) return insert(m);
  const double before = t();
  auto ok = estimator_->push(m);
  record(ok ? m : Measurement{t(), kAdvance, {}}, ok || t() > before);
  return ok;
}

Result<std::monostate> Replay::advance(double t) {
  const double before = this->t();
  auto ok = estimator_->advance(t);
  record({this->t(), kAdvance, {}}, this->t() > before);
  return ok;
}

// What fails half way is an event all the same: what comes next starts from where it ended.
void Replay::record(const Measurement& event, bool happened) {
  if (!happened) return;
  events_.push_back(event);
  keep_after(events_.size());
  forget();
}

Result<std::monostate> Replay::take(const Measurement& event) {
  return event.sensor == kAdvance ? estimator_->advance(event.t) : estimator_->push(event);
}

// Events are counted from the first ever; a snapshot after n events serves for whatever comes at place n or later.
Result<std::monostate> Replay::insert(const Measurement& m) {
  const auto later = std::upper_bound(events_.begin() + first_, events_.end(), m.t,
                                      [](double t, const Measurement& event) { return t < event.t; });
  const std::size_t place = later - events_.begin();
  events_.insert(later, m);
  auto ok = replay_from(place, true);
  if (ok) return ok;
  events_.erase(events_.begin() + place);
  if (auto again = replay_from(place, false); !again) return again;
  return ok;
}

Result<std::monostate> Replay::replay_from(std::size_t place, bool fresh) {
  while (kept_.size() > 1 && kept_.back().before > gone_ + place) {
    spare_.push_back(std::move(kept_.back().snapshot));
    kept_.pop_back();
  }
  estimator_->restore(*kept_.back().snapshot);
  const std::size_t count = events_.size();
  for (std::size_t i = kept_.back().before - gone_; i < count; ++i) {
    quiet_ = !fresh || i != place;
    replayed_ += quiet_;
    auto ok = take(events_[i]);
    quiet_ = false;
    if (!ok) return ok;
    keep_after(i + 1);
  }
  return std::monostate();
}

void Replay::keep_after(std::size_t events) {
  if (!kept_.empty() && t() < kept_.back().t + spacing_) return;
  if (spare_.empty()) spare_.push_back(estimator_->snapshot());
  kept_.push_back({t(), gone_ + events, std::move(spare_.back())});
  spare_.pop_back();
  estimator_->save(*kept_.back().snapshot);
}

// The oldest snapshot must lie at or before the oldest time that may still come.
void Replay::forget() {
  const double oldest = t() - lag_;
  std::size_t gone = 0;
  while (gone + 1 < kept_.size() && kept_[gone + 1].t <= oldest) {
    spare_.push_back(std::move(kept_[gone].snapshot));
    ++gone;
  }
  kept_.erase(kept_.begin(), kept_.begin() + gone);
  first_ = kept_.front().before - gone_;
  if (first_ > 64 && first_ > events_.size() / 2) {
    events_.erase(events_.begin(), events_.begin() + first_);
    gone_ += first_;
    first_ = 0;
  }
}

}  // namespace kinegraph::filter

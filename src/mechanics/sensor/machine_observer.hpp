#pragma once

#include <algorithm>
#include <array>

#include "kinegraph/base/dual.hpp"
#include "kinegraph/mechanics/sensor/list.hpp"
#include "kinegraph/mechanics/sensor/observer.hpp"

namespace kinegraph::sensor {

/// x with the derivatives that row k of dx has along the directions from column `first` on.
template <class T>
T seeded(double x, const Eigen::MatrixXd& dx, int k, int first) {
  T y(x);
  if constexpr (kDirections < T >> 0) {
    const int count = std::min<int>(kDirections<T>, static_cast<int>(dx.cols()) - first);
    for (int j = 0; j < count; ++j) y.v[j] = dx(k, first + j);
  }
  return y;
}
/// Number k of a vector of an Instant.
template <class T>
T seeded(const Eigen::VectorXd& x, const Eigen::MatrixXd& dx, int k, int first) {
  return seeded<T>(x[k], dx, k, first);
}

/// The sensors of a machine that gives View<T> view<T>(instant, sensor, needs, first): what one sensor sees, with the
/// directions from column `first` on. Has no state but the machine's: may be read by several threads at once.
template <class Machine>
class MachineObserver final : public Observer {
 public:
  template <class... Arguments>
  explicit MachineObserver(const Model& model, Arguments&&... arguments)
      : Observer(model), machine_(model, std::forward<Arguments>(arguments)...) {}

  void read(const Instant& instant, int i, double* y) const override {
    visit_sensor(sensor(i).type, [&](auto kind) {
      std::array<double, kMostRows> reading{};
      evaluate<decltype(kind)>(instant, i, 0, reading);
      std::copy_n(reading.begin(), rows(i), y);
    });
  }

  void read(const Instant& instant, int i, double* y, Eigen::Ref<Eigen::MatrixXd> H) const override {
    const int directions = instant.directions();
    if (directions == 0) return read(instant, i, y);
    visit_sensor(sensor(i).type, [&](auto kind) {
      using Kind = decltype(kind);
      if (directions <= kNarrow) return columns<Kind, Dual<kNarrow>>(instant, i, 0, y, H);
      for (int first = 0; first < directions; first += kWide) columns<Kind, Dual<kWide>>(instant, i, first, y, H);
    });
  }

 private:
  static constexpr int kNarrow = 2, kWide = 8;  // machines of one freedom have two directions

  template <class Kind, class T>
  void evaluate(const Instant& instant, int i, int first, std::array<T, kMostRows>& y) const {
    static_assert(Kind::kPlanar <= kMostRows && Kind::kSpatial <= kMostRows);
    Kind::read(machine_.template view<T>(instant, i, Kind::kNeeds, first), y.data());
  }

  template <class Kind, class T>
  void columns(const Instant& instant, int i, int first, double* y, Eigen::Ref<Eigen::MatrixXd>& H) const {
    std::array<T, kMostRows> reading{};
    evaluate<Kind>(instant, i, first, reading);
    const int count = std::min(kDirections<T>, instant.directions() - first);
    for (int r = 0; r < rows(i); ++r) {
      y[r] = reading[r].a;
      for (int j = 0; j < count; ++j) H(r, first + j) = reading[r].v[j];
    }
  }

  Machine machine_;
};

}  // namespace kinegraph::sensor

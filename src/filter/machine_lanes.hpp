#pragma once

#include <array>
#include <vector>

#include "kinegraph/filter/machine_space.hpp"
#include "kinegraph/filter/natural_packets.hpp"
#include "kinegraph/filter/state_lanes.hpp"

namespace kinegraph::filter {

/// States of a planar machine whose packets have code of their own (PacketCode).
class MachineLanes final : public StateLanes {
 public:
  /// Null: no such machine.
  static std::unique_ptr<MachineLanes> make(MachineSpace& space);

  bool reads(int sensor) const override { return packets_.code()->sees(sensor); }
  bool charts(const Chart& chart) const override { return packets_.charts(chart); }
  void advance(double t, double h, const double* x, double* next, bool* good) override;
  void find_directions(const double* x, bool* good) override;
  void disturb(double t, double h, double* x, const double* normal, bool* good) override;
  void predict(const double* x, int sensor, double* y, bool* good) override;
  void respond(double h, const double* x, int sensor, double* y, double* B, bool* good) override;
  void predict(const double* x, int sensor, double* y, double* H, bool* good) override;
  void retract(double t, const double* x, const double* delta, double* out, bool* good) override;

 private:
  MachineLanes(MachineSpace& space, NaturalPackets& packets);
  void add_offsets(const double* x, int sensor, double* y) const;

  MachineSpace& space_;
  NaturalPackets& packets_;
  int moved_, extras_, noises_;  // numbers of (q, v), of offsets and unknown forces; noises of the plant
  std::vector<double> directions_, kicks_, along_, next_;
};

}  // namespace kinegraph::filter

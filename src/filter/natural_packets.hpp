#pragma once

#include <cmath>
#include <memory>
#include <vector>

#include "kinegraph/filter/natural_packet.hpp"
#include "kinegraph/filter/natural_saddle.hpp"
#include "kinegraph/filter/plant.hpp"
#include "kinegraph/mechanics/natural/system.hpp"

namespace kinegraph::filter {

/// What the projection of a planar mechanism measures by.
struct NaturalScales {
  std::vector<double> length;     ///< n: what counts as far for a coordinate
  std::vector<double> sharpness;  ///< m: one over the rounding of a row of Φ; 0: redundant
  double size = 1;                ///< of the mechanism, its place included
};

/// Many states of a planar mechanism at once, several in a vector register: what each of them would give alone, to
/// rounding. It depends on that state alone, bit by bit, and not on the processor. States are `stride` numbers apart;
/// done[i] is false where state i is not regular and must be asked about alone.
class NaturalPackets {
 public:
  NaturalPackets(std::shared_ptr<const natural::System> system, const NaturalSaddle& saddle,
                 const PlantOptions& options, NaturalScales scales);

  /// A step of the integrator. force: the unknown ones of the first state, `stride` apart; null: none.
  void step(double t, double h, int count, int stride, const double* x, const double* force, double* next, bool* done);
  /// How the velocities answer to each noise: n × noises per state, column by column.
  void directions(int count, int stride, const double* x, double* out, bool* done);
  /// v and q changed along these directions, then onto the constraints. kicks: by state and noise, of v and of q.
  void kick(double t, int count, int stride, double* x, const double* kicks, bool* done);

  void use(const PacketKernel& kernel) { kernel_ = &kernel; }                    ///< another than this processor's best
  void use(std::shared_ptr<const PacketCode> code) { code_ = std::move(code); }  ///< null: the kernel again
  const PacketProgram& program() const;

  /// Code for this mechanism; null: none. What it asks for: laws at a time (place: 0, or that of a stage), work space.
  const PacketCode* code() const { return code_.get(); }
  PacketTime at(double t, int place = 0);
  const PacketTime* step_times(double t, double h);  ///< of the stages, and of the end
  const PacketTime& end_time(double t);              ///< they stay while others are asked for
  double* work();

  /// What a sensor reads, see PacketCode. False: there is no code for it.
  /// y: rows per state. along (null: not asked for): by state, noise and row, along the noise's direction in v, in q.
  bool see(int sensor, int rows, int count, int stride, const double* x, double* y, double* along, bool* done);
  /// H: by state, number of δ (tangent of them) and row.
  bool see_along(int sensor, int rows, int count, int stride, const double* x, double* y, double* H, int tangent,
                 bool* done);
  /// x ← the state with coordinates δ about x, in the chart that there is code for.
  void retract(double t, int count, int stride, double* x, const double* delta, int size, bool* done);
  bool charts(const Chart& chart) const;

 private:
  struct Tables;
  PacketStates states(int count, int stride, const double* x, bool* done);
  static void put_apart(const double* answers, int size, int first, int present, double* out);
  template <class Do>
  void by_eight(int count, int stride, const double* x, double* next, bool* done, const Do& act);

  std::shared_ptr<const natural::System> system_;
  std::shared_ptr<const Tables> tables_;  // read only: shared by copies
  step::Tableau tableau_;
  const PacketKernel* kernel_;
  std::shared_ptr<const PacketCode> code_;
  std::vector<double> work_, law_, a_, b_;
  std::vector<double> eight_, answers_;  // states side by side, and what code says of them
  std::vector<PacketTime> time_;         // of the stages, of their end, of what is no step
  struct Known {                         // which they are; of a copy: none, as they point to what is not its own
    double t = NAN, h = NAN, end = NAN;
    Known() = default;
    Known(const Known&) {}
    Known& operator=(const Known&) { return t = h = end = NAN, *this; }
  } known_;
};

}  // namespace kinegraph::filter

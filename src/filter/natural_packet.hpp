#pragma once

#include "kinegraph/filter/natural_saddle_plan.hpp"
#include "kinegraph/mechanics/natural/absolute_angle.hpp"
#include "kinegraph/mechanics/natural/body_torque_force.hpp"
#include "kinegraph/mechanics/natural/constant_distance.hpp"
#include "kinegraph/mechanics/natural/coordinate_spring_force.hpp"
#include "kinegraph/mechanics/natural/relative_angle.hpp"
#include "kinegraph/mechanics/natural/relative_position.hpp"
#include "kinegraph/mechanics/natural/rigid_point.hpp"
#include "kinegraph/mechanics/natural/slider_constraint.hpp"
#include "kinegraph/mechanics/natural/spring_force.hpp"

// Many states of one planar mechanism at once, several in the lanes of a vector register: packets. The kernels are
// compiled several times, for different processors, and an inline function of a library that got compiled there could
// be the one that the linker keeps for everybody: they read plain data only, and what they share with others are
// templates on a type of their own.
namespace kinegraph::filter {

/// A constraint as packets read it. Slots: coordinates, then constants. Places: in Φ_q; what stands for fixed points
/// goes to one place beyond.
template <class E>
struct PacketConstraint {
  E equation;
  int row = 0;
  bool merged = false;  ///< some place is named twice: its values add up
  int slot[E::kCoordinates], place[E::kCoordinates];
};
/// A coordinate that follows a law of time.
struct PacketDriver {
  int row = 0, slot = 0, place = 0;
};
/// Targets: coordinates; n + m stands for fixed points.
template <class E>
struct PacketForce {
  E equation;
  int slot[E::kCoordinates], target[E::kCoordinates];
};
struct PacketTorque {
  int slot[4], target[4];
};
struct PacketNoise {
  int column = 0;
  bool acceleration = false;
};

/// An explicit Runge-Kutta method, see step::Tableau.
struct PacketTableau {
  int stages = 0;
  double a[6][6] = {}, b[6] = {};
};

/// A mechanism as packets read it: the same for all states and times.
struct PacketProgram {
  int n = 0, m = 0;  ///< coordinates, rows of Φ
  int places = 0;    ///< of Φ_q
  PlainList<double> constants;

  PlainList<PacketConstraint<natural::ConstantDistance>> distances;
  PlainList<PacketConstraint<natural::RigidPoint>> rigid_points;
  PlainList<PacketConstraint<natural::SliderConstraint>> sliders;
  PlainList<PacketConstraint<natural::AbsoluteAngle>> angles;
  PlainList<PacketConstraint<natural::RelativeAngle>> relative_angles;
  PlainList<PacketConstraint<natural::RelativePosition>> relative_positions;
  PlainList<PacketDriver> drivers;
  PlainList<PacketForce<natural::SpringForce>> springs;
  PlainList<PacketForce<natural::CoordinateSpringForce>> coordinate_springs;
  PlainList<PacketTorque> torques;

  SaddlePlan saddle;
  PlainList<PacketNoise> noises;
  PlainList<int> forces;        ///< coordinates on which unknown forces act
  PlainList<double> sharpness;  ///< by row: what the misses of Φ are measured by
  PlainList<double> length;     ///< by coordinate: what counts as far
  double size = 1;
  PacketTableau tableau;  ///< of code made for the mechanism
};

/// What laws of time say at one time.
struct PacketTime {
  const double* force = nullptr;   ///< n: constant forces, loads, motors
  const double* torque = nullptr;  ///< τ/L² of each torque on a body
  const double* driver = nullptr;  ///< f, ḟ, f̈ of each driver
};

/// States, `stride` numbers from one to the next. What is regular is done; what is not (a singular pose, a slow
/// projection, an angle of a hundred thousand turns) is left to others: done[i] is false then.
struct PacketStates {
  int count = 0, stride = 0;
  const double* x = nullptr;
  bool* done = nullptr;
  double* work = nullptr;  ///< packet_work() numbers, at a multiple of 64 bytes
};

/// Explicit Runge-Kutta, then onto the constraints: see NaturalPlant::advance().
struct PacketStep {
  int stages = 0;
  const double* a = nullptr;         ///< h a, stages × stages
  const double* b = nullptr;         ///< h b
  const PacketTime* time = nullptr;  ///< of each stage, then of the end
  const double* force = nullptr;     ///< the unknown forces of the first state; null: none
  double* next = nullptr;            ///< like x; only (q, v) is written
};

/// Kicks along the noises' directions, then onto the constraints.
struct PacketKick {
  const double* kick = nullptr;  ///< by state and noise: of v, of q. Null: the directions only
  PacketTime time;
  double* directions = nullptr;  ///< by state n × noises, column by column. Null: the kicked states only
  double* next = nullptr;        ///< may be x
};

struct PacketKernel {
  void (*step)(const PacketProgram& program, const PacketStates& states, const PacketStep& step);
  void (*kick)(const PacketProgram& program, const PacketStates& states, const PacketKick& kick);
};

inline constexpr int kPacketMost = 8;  ///< states per packet, on any processor

/// Numbers of work space for any kernel.
constexpr int packet_work(const PacketProgram& p, int stages) {
  const int states = 2 * (p.n + p.constants.count) + 2 * (p.n + p.m + 1) + 2 * p.m + 2 * p.n + p.forces.count;
  const int plan = p.places + 1 + p.saddle.pairs.count + p.saddle.reduced_source.count + p.saddle.base.count;
  const int laws = (stages + 1) * (p.n + p.torques.count + 3 * p.drivers.count);
  const int code = 24 * p.n + laws + p.noises.count * (p.n + 16) + p.forces.count + 64;  // PacketCode's
  return kPacketMost * (states + plan + p.saddle.columns.count + 2 * stages * p.n + code);
}

extern const PacketKernel kPacketKernel;
#if defined(__x86_64__)
extern const PacketKernel kPacketKernelAvx2, kPacketKernelAvx512;
#endif

/// Eight states side by side: number k of state s stands at [8 k + s], q before v. good[s] is made false where state s
/// is not regular; what stands in its place then is nothing.
struct PacketLanes {
  const double* x = nullptr;  ///< finite, angles below 1e5 rad
  double* next = nullptr;     ///< where states are moved to, which are so again; not x
  bool* good = nullptr;
  double* work = nullptr;  ///< packet_work() numbers, at a multiple of 64 bytes
};

/// Code made for one mechanism, which does the same as kernels do for any: see task/compiled_packets.hpp. Without
/// state, shared by threads. Answers have the same order as states: number k of state s at [8 k + s].
class PacketCode {
 public:
  virtual ~PacketCode() = default;
  /// force: the unknown ones; null: none. Time: of each stage, then of the end.
  virtual void step(const PacketLanes& lanes, double h, const PacketTime* time, const double* force) const = 0;
  /// n numbers for each noise.
  virtual void directions(const PacketLanes& lanes, double* d) const = 0;
  /// Along directions d, by two numbers for each noise: of v, of q.
  virtual void kick(const PacketLanes& lanes, const PacketTime& time, const double* d, const double* kicks) const = 0;

  /// Whether there is code for a sensor; without biases and scales.
  virtual bool sees(int sensor) const = 0;
  virtual void see(const PacketLanes& lanes, int sensor, double* y) const = 0;
  /// along: by noise and row, along the noise's direction in v, in q; d: as directions() has them.
  virtual void respond(const PacketLanes& lanes, int sensor, double* y, double* along, double* d) const = 0;

  /// Whether there is code for the chart of these coordinates.
  virtual bool charts(const int* columns, int count) const = 0;
  /// δ = (δz, δż)
  virtual void retract(const PacketLanes& lanes, const PacketTime& time, const double* delta) const = 0;
  /// H: by number of δ and row.
  virtual void see_along(const PacketLanes& lanes, int sensor, double* y, double* H) const = 0;
};

/// The best of them for this processor. All give the same bits.
const PacketKernel& packet_kernel();

}  // namespace kinegraph::filter

#include <Simbody.h>
#include <time.h>

#include "bench/bodies_peer.hpp"

namespace kinegraph::bench {
namespace {

double cpu_now() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

/// Inertia about the body's origin, which is the bar's first end.
SimTK::Body::Rigid bar(double length, double mass) {
  const double across = mass * length * length / 3;
  return SimTK::Body::Rigid(
      SimTK::MassProperties(mass, SimTK::Vec3(length / 2, 0, 0), SimTK::Inertia(0, across, across)));
}

}  // namespace

BodiesRun simbody(const Bars& bars, double accuracy, const std::vector<double>& times) {
  using namespace SimTK;
  MultibodySystem system;
  SimbodyMatterSubsystem matter(system);
  GeneralForceSubsystem forces(system);
  Force::UniformGravity(forces, matter, Vec3(bars.gravity[0], bars.gravity[1], 0));
  std::vector<MobilizedBody::Pin> joints;
  double before = 0;
  for (std::size_t i = 0; i < bars.length.size(); ++i) {
    MobilizedBody& parent = i == 0 ? static_cast<MobilizedBody&>(matter.Ground()) : joints.back();
    MobilizedBody::Pin joint(parent, Transform(Vec3(before, 0, 0)), bar(bars.length[i], bars.mass[i]), Transform());
    joints.push_back(joint);
    before = bars.length[i];
  }
  if (bars.closed) {  // in the plane two rows are enough; a ball joint would bring a third that follows from them
    Constraint::PointInPlane(matter.Ground(), UnitVec3(XAxis), bars.ground[0], joints.back(), Vec3(before, 0, 0));
    Constraint::PointInPlane(matter.Ground(), UnitVec3(YAxis), bars.ground[1], joints.back(), Vec3(before, 0, 0));
  }
  State state = system.realizeTopology();
  for (std::size_t i = 0; i < joints.size(); ++i) joints[i].setAngle(state, bars.angle[i]);

  RungeKuttaMersonIntegrator integrator(system);
  integrator.setAccuracy(accuracy);
  TimeStepper stepper(system, integrator);
  BodiesRun run;
  const double begun = cpu_now();
  stepper.initialize(state);
  for (const double t : times) {
    stepper.stepTo(t);
    for (const MobilizedBody::Pin& joint : joints) run.angles.push_back(joint.getAngle(integrator.getState()));
  }
  run.seconds = cpu_now() - begun;
  run.steps = integrator.getNumStepsTaken();
  return run;
}

}  // namespace kinegraph::bench

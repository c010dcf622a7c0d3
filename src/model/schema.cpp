#include "kinegraph/model/schema.hpp"

namespace kinegraph {
namespace {

constexpr KeySchema kName = {"name", ValueShape::text, false, "what the element is called"};

constexpr std::array kPoint = {
    kName,
    KeySchema{"x", ValueShape::text, true, "where it is drawn, m"},
    KeySchema{"y", ValueShape::text, true, "where it is drawn, m"},
    KeySchema{"fixed", ValueShape::text, false, "true for a point of the ground; default false"},
};
constexpr std::array kBody = {
    kName,
    KeySchema{"points", ValueShape::list, true,
              "two or more points; the body's x axis goes from the first to the second"},
    KeySchema{"length", ValueShape::text, false, "first to second point, m; auto (default): as drawn"},
    KeySchema{"mass", ValueShape::text, false, "kg; default 0"},
    KeySchema{"I0", ValueShape::text, false,
              "inertia about the first point, kg m²; default of a bar: (1/3)*mass*length^2"},
    KeySchema{"cog", ValueShape::list, false,
              "centre of mass [x, y] in the body's axes; default of a bar: [length/2, 0]"},
    KeySchema{"visual", ValueShape::drawing, false, "what it looks like"},
};
constexpr std::array kRelative = {
    kName,
    KeySchema{"type", ValueShape::text, true, "absolute_angle, relative_angle or relative_position"},
    KeySchema{"points", ValueShape::list, false, "the points that define it"},
    KeySchema{"bodies", ValueShape::list, false, "relative_angle only: two bodies in place of four points"},
};
constexpr std::array kSlider = {
    kName,
    KeySchema{"point", ValueShape::text, true, "the point that slides"},
    KeySchema{"line", ValueShape::list, true, "two points of the line"},
};
constexpr std::array kDriver = {
    kName,
    KeySchema{"coordinate", ValueShape::text, true, "theta, or P1.x"},
    KeySchema{"law", ValueShape::text, true, "its value, a formula of t"},
};
constexpr std::array kSpring = {
    kName,
    KeySchema{"points", ValueShape::list, true, "its two ends"},
    KeySchema{"stiffness", ValueShape::text, true, "N/m"},
    KeySchema{"rest", ValueShape::text, false, "length without force, m; auto (default): as drawn"},
    KeySchema{"damping", ValueShape::text, false, "N s/m; default 0"},
};
constexpr std::array kDamper = {
    kName,
    KeySchema{"points", ValueShape::list, true, "its two ends"},
    KeySchema{"damping", ValueShape::text, true, "N s/m"},
};
constexpr std::array kCoordinateSpring = {
    kName,
    KeySchema{"coordinate", ValueShape::text, true, "a relative coordinate"},
    KeySchema{"stiffness", ValueShape::text, true, "N m/rad, or N/m of a position"},
    KeySchema{"rest", ValueShape::text, false, "value without force; auto (default): as drawn"},
    KeySchema{"damping", ValueShape::text, false, "N m s/rad, or N s/m; default 0"},
};
constexpr std::array kCoordinateDamper = {
    kName,
    KeySchema{"coordinate", ValueShape::text, true, "a relative coordinate"},
    KeySchema{"damping", ValueShape::text, true, "N m s/rad, or N s/m"},
};
constexpr std::array kMotor = {
    kName,
    KeySchema{"coordinate", ValueShape::text, true, "a relative coordinate"},
    KeySchema{"torque", ValueShape::text, false, "N m (N of a position), a formula of t; default 0"},
    KeySchema{"gain", ValueShape::text, false, "N m (N of a position) per unit of the recorded control; default 1"},
    KeySchema{"inertia", ValueShape::text, false, "of its shaft, kg m² (kg of a position); default 0"},
};
constexpr std::array kLoad = {
    kName,
    KeySchema{"point", ValueShape::text, true, "where the force acts"},
    KeySchema{"x", ValueShape::text, false, "N, a formula of t; default 0"},
    KeySchema{"y", ValueShape::text, false, "N, a formula of t; default 0"},
};
constexpr std::array kTorque = {
    kName,
    KeySchema{"body", ValueShape::text, true, "on which it acts"},
    KeySchema{"torque", ValueShape::text, true, "N m, a formula of t"},
};

constexpr KeySchema kType = {"type", ValueShape::text, true, "what it measures"};
constexpr std::array kReadings = {
    KeySchema{"noise", ValueShape::text, false, "standard deviation of a reading; default 0"},
    KeySchema{"quantum", ValueShape::text, false, "readings are multiples of this; default 0: not rounded"},
    KeySchema{"scale", ValueShape::text, false, "reading per unit of what is measured, not 0; default 1"},
    KeySchema{"bias", ValueShape::text, false, "known offset of all readings; default 0"},
    KeySchema{"bias_sd", ValueShape::text, false, "standard deviation of the unknown offset at the start; default 0"},
    KeySchema{"bias_walk", ValueShape::text, false, "how the offset wanders, per √s; default 0"},
    KeySchema{"gyro_noise", ValueShape::text, false, "imu: as noise, of its angular velocities"},
    KeySchema{"gyro_quantum", ValueShape::text, false, "imu: as quantum, of its angular velocities"},
    KeySchema{"gyro_scale", ValueShape::text, false, "imu: as scale, of its angular velocities"},
    KeySchema{"gyro_bias", ValueShape::text, false, "imu: as bias, of its angular velocities"},
    KeySchema{"gyro_bias_sd", ValueShape::text, false, "imu: as bias_sd, of its angular velocities"},
    KeySchema{"gyro_bias_walk", ValueShape::text, false, "imu: as bias_walk, of its angular velocities"},
    KeySchema{"accel_noise", ValueShape::text, false, "imu: as noise, of its accelerations"},
    KeySchema{"accel_quantum", ValueShape::text, false, "imu: as quantum, of its accelerations"},
    KeySchema{"accel_scale", ValueShape::text, false, "imu: as scale, of its accelerations"},
    KeySchema{"accel_bias", ValueShape::text, false, "imu: as bias, of its accelerations"},
    KeySchema{"accel_bias_sd", ValueShape::text, false, "imu: as bias_sd, of its accelerations"},
    KeySchema{"accel_bias_walk", ValueShape::text, false, "imu: as bias_walk, of its accelerations"},
    KeySchema{"rate", ValueShape::text, false, "readings per second; default 100"},
    KeySchema{"delay", ValueShape::text, false, "s: how late readings come; default 0"},
    KeySchema{"dropout", ValueShape::text, false, "share of readings that are missing, 0 to 1; default 0"},
    KeySchema{"outliers", ValueShape::text, false, "share of readings that are wrong, 0 to 1; default 0"},
    KeySchema{"outlier_size", ValueShape::text, false, "standard deviation of wrong readings about the right one"},
};

/// Two tables one after the other.
template <std::size_t n, std::size_t m>
constexpr std::array<KeySchema, n + m> joined(const std::array<KeySchema, n>& a, const std::array<KeySchema, m>& b) {
  std::array<KeySchema, n + m> both{};
  for (std::size_t i = 0; i < n; ++i) both[i] = a[i];
  for (std::size_t i = 0; i < m; ++i) both[n + i] = b[i];
  return both;
}

constexpr std::array kFrictionNumbers = {
    KeySchema{"viscous", ValueShape::text, false, "N m s/rad (N s/m of a slider); default 0"},
    KeySchema{"dry", ValueShape::text, false, "Coulomb friction, N m (N of a slider); default 0"},
    KeySchema{"stribeck", ValueShape::text, false, "what dry friction has more at rest, N m (N); default 0"},
    KeySchema{"stribeck_speed", ValueShape::text, false, "at which 1/e of that is left, rad/s (m/s); default 1"},
    KeySchema{"quadratic", ValueShape::text, false, "drag, N m s²/rad² (N s²/m²); default 0"},
    KeySchema{"load_friction", ValueShape::text, false,
              "dry friction per force through the joint, m (of a slider: 1); default 0"},
};
constexpr std::array kFriction =
    joined(std::array{KeySchema{"joint", ValueShape::text, true, "a pin or slider, as columns of reactions name it"}},
           kFrictionNumbers);

constexpr std::array kSensor = joined(
    std::array{
        kName,
        kType,
        KeySchema{"coordinate", ValueShape::text, false, "encoder, tachometer, torque: a relative coordinate"},
        KeySchema{"body", ValueShape::text, false, "on which it sits"},
        KeySchema{"at", ValueShape::list, false, "where on the body, [x, y] in its axes; default: its first point"},
        KeySchema{"point", ValueShape::text, false, "where on the body: one of its points, in place of at"},
        KeySchema{"angle", ValueShape::text, false, "of the sensor's axes against the body's; default 0"},
        KeySchema{"from", ValueShape::text, false, "distance: a point"},
        KeySchema{"to", ValueShape::text, false, "distance: a point"},
        KeySchema{"joint", ValueShape::text, false, "load_cell: a pin, as columns of reactions name it"},
    },
    kReadings);
constexpr std::array kDensities = {
    KeySchema{"density", ValueShape::text, false, "of the acceleration, (rad or m)/s² per √Hz"},
    KeySchema{"force_density", ValueShape::text, false, "of the force, N (m) per √Hz"},
};
constexpr std::array kEstimated = {
    KeySchema{"sd", ValueShape::text, false, "standard deviation at the start, N (m); default 0"},
    KeySchema{"walk", ValueShape::text, false, "how it wanders, N (m) per √s; default 0"},
};
constexpr std::array kWhere = {KeySchema{"coordinate", ValueShape::text, true, "theta, or P1.x"}};
constexpr std::array kDisturbance = joined(kWhere, kDensities);
constexpr std::array kUnknown = joined(std::array{kName, kWhere[0]}, kEstimated);

constexpr std::array kRobotSensor = joined(
    std::array{
        kName,
        kType,
        KeySchema{"joint", ValueShape::text, false, "encoder, tachometer, torque, load_cell: a joint"},
        KeySchema{"freedom", ValueShape::text, false, "which, of a joint with several: 1, 2, …; default 1"},
        KeySchema{"link", ValueShape::text, false, "on which it sits"},
        KeySchema{"xyz", ValueShape::list, false, "where on the link; default [0, 0, 0]"},
        KeySchema{"rpy", ValueShape::list, false, "the sensor's axes on the link; default [0, 0, 0]"},
        KeySchema{"from", ValueShape::place, false, "distance: {link: …, xyz: […]}"},
        KeySchema{"to", ValueShape::place, false, "distance: {link: …, xyz: […]}; the link may be world"},
    },
    kReadings);
constexpr std::array kJoint = {
    KeySchema{"joint", ValueShape::text, true, "along which it acts"},
    KeySchema{"freedom", ValueShape::text, false, "which, of a joint with several: 1, 2, …; default 1"},
};
constexpr std::array kRobotDisturbance = joined(kJoint, kDensities);
constexpr std::array kRobotUnknown = joined(std::array{kName, kJoint[0], kJoint[1]}, kEstimated);

constexpr std::array kRobotFriction =
    joined(joined(kJoint, kFrictionNumbers),
           std::array{
               KeySchema{"armature", ValueShape::text, false, "inertia of the motor's shaft, kg m² (kg of a slide)"},
               KeySchema{"gain", ValueShape::text, false, "N m (N) per unit of the recorded control; default 1"},
           });

constexpr std::array<SectionSchema, kSections> kSchemas = {{
    {Section::points, "points", "point", kPoint},
    {Section::planar_bodies, "planar_bodies", "body", kBody},
    {Section::relative_coordinates, "relative_coordinates", "relative coordinate", kRelative},
    {Section::sliders, "sliders", "slider", kSlider},
    {Section::drivers, "drivers", "driver", kDriver},
    {Section::springs, "springs", "spring", kSpring},
    {Section::dampers, "dampers", "damper", kDamper},
    {Section::coordinate_springs, "coordinate_springs", "coordinate spring", kCoordinateSpring},
    {Section::coordinate_dampers, "coordinate_dampers", "coordinate damper", kCoordinateDamper},
    {Section::motors, "motors", "motor", kMotor},
    {Section::loads, "loads", "load", kLoad},
    {Section::torques, "torques", "torque", kTorque},
    {Section::joint_friction, "joint_friction", "joint friction", kFriction},
    {Section::sensors, "sensors", "sensor", kSensor},
    {Section::disturbances, "disturbances", "disturbance", kDisturbance},
    {Section::unknowns, "unknowns", "force to be estimated", kUnknown},
}};

constexpr std::array kRobotSchemas = {
    SectionSchema{Section::sensors, "sensors", "sensor", kRobotSensor},
    SectionSchema{Section::disturbances, "disturbances", "disturbance", kRobotDisturbance},
    SectionSchema{Section::unknowns, "unknowns", "force to be estimated", kRobotUnknown},
    SectionSchema{Section::joint_friction, "joint_friction", "joint friction", kRobotFriction},
};

constexpr std::array kFileKeys = {
    KeySchema{"name", ValueShape::text, false, "what the mechanism is called; default: the file's name"},
    KeySchema{"description", ValueShape::text, false, "free text"},
    KeySchema{"gravity", ValueShape::text, false, "m/s², downwards, or [x, y]; default 9.81"},
    KeySchema{"parameters", ValueShape::text, false, "named numbers"},
    KeySchema{"initial", ValueShape::text, false, "values and rates at the start"},
};

}  // namespace

const SectionSchema& schema(Section section) { return kSchemas[static_cast<int>(section)]; }
std::span<const SectionSchema> sections() { return kSchemas; }
std::span<const KeySchema> file_keys() { return kFileKeys; }
std::span<const SectionSchema> robot_sections() { return kRobotSchemas; }

}  // namespace kinegraph

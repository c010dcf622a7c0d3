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
}};

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

}  // namespace kinegraph

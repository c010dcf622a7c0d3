#include "kinegraph/model/schema.hpp"

namespace kinegraph {
namespace {

constexpr KeySchema kName = {"name", Shape::text, false, "what the element is called"};

constexpr std::array kPoint = {
    kName,
    KeySchema{"x", Shape::text, true, "where it is drawn, m"},
    KeySchema{"y", Shape::text, true, "where it is drawn, m"},
    KeySchema{"fixed", Shape::text, false, "true for a point of the ground; default false"},
};
constexpr std::array kBody = {
    kName,
    KeySchema{"points", Shape::list, true, "two or more points; the body's x axis goes from the first to the second"},
    KeySchema{"length", Shape::text, false, "first to second point, m; auto (default): as drawn"},
    KeySchema{"mass", Shape::text, false, "kg; default 0"},
    KeySchema{"I0", Shape::text, false, "inertia about the first point, kg m²; default of a bar: (1/3)*mass*length^2"},
    KeySchema{"cog", Shape::list, false, "centre of mass [x, y] in the body's axes; default of a bar: [length/2, 0]"},
    KeySchema{"visual", Shape::drawing, false, "what it looks like"},
};
constexpr std::array kRelative = {
    kName,
    KeySchema{"type", Shape::text, true, "absolute_angle, relative_angle or relative_position"},
    KeySchema{"points", Shape::list, false, "the points that define it"},
    KeySchema{"bodies", Shape::list, false, "relative_angle only: two bodies in place of four points"},
};
constexpr std::array kSlider = {
    kName,
    KeySchema{"point", Shape::text, true, "the point that slides"},
    KeySchema{"line", Shape::list, true, "two points of the line"},
};
constexpr std::array kDriver = {
    kName,
    KeySchema{"coordinate", Shape::text, true, "theta, or P1.x"},
    KeySchema{"law", Shape::text, true, "its value, a formula of t"},
};
constexpr std::array kSpring = {
    kName,
    KeySchema{"points", Shape::list, true, "its two ends"},
    KeySchema{"stiffness", Shape::text, true, "N/m"},
    KeySchema{"rest", Shape::text, false, "length without force, m; auto (default): as drawn"},
    KeySchema{"damping", Shape::text, false, "N s/m; default 0"},
};
constexpr std::array kDamper = {
    kName,
    KeySchema{"points", Shape::list, true, "its two ends"},
    KeySchema{"damping", Shape::text, true, "N s/m"},
};
constexpr std::array kCoordinateSpring = {
    kName,
    KeySchema{"coordinate", Shape::text, true, "a relative coordinate"},
    KeySchema{"stiffness", Shape::text, true, "N m/rad, or N/m of a position"},
    KeySchema{"rest", Shape::text, false, "value without force; auto (default): as drawn"},
    KeySchema{"damping", Shape::text, false, "N m s/rad, or N s/m; default 0"},
};
constexpr std::array kCoordinateDamper = {
    kName,
    KeySchema{"coordinate", Shape::text, true, "a relative coordinate"},
    KeySchema{"damping", Shape::text, true, "N m s/rad, or N s/m"},
};
constexpr std::array kMotor = {
    kName,
    KeySchema{"coordinate", Shape::text, true, "a relative coordinate"},
    KeySchema{"torque", Shape::text, false, "N m (N of a position), a formula of t; default 0"},
};
constexpr std::array kLoad = {
    kName,
    KeySchema{"point", Shape::text, true, "where the force acts"},
    KeySchema{"x", Shape::text, false, "N, a formula of t; default 0"},
    KeySchema{"y", Shape::text, false, "N, a formula of t; default 0"},
};
constexpr std::array kTorque = {
    kName,
    KeySchema{"body", Shape::text, true, "on which it acts"},
    KeySchema{"torque", Shape::text, true, "N m, a formula of t"},
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
    KeySchema{"name", Shape::text, false, "what the mechanism is called; default: the file's name"},
    KeySchema{"description", Shape::text, false, "free text"},
    KeySchema{"gravity", Shape::text, false, "m/s², downwards, or [x, y]; default 9.81"},
    KeySchema{"parameters", Shape::text, false, "named numbers"},
    KeySchema{"initial", Shape::text, false, "values and rates at the start"},
};

}  // namespace

const SectionSchema& schema(Section section) { return kSchemas[static_cast<int>(section)]; }
std::span<const SectionSchema> sections() { return kSchemas; }
std::span<const KeySchema> file_keys() { return kFileKeys; }

}  // namespace kinegraph

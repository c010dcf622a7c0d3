#include "kinegraph/io/sdf_shape.hpp"

#include <sdf/sdf.hh>

namespace kinegraph::io {
namespace {

bool fill(const sdf::Geometry& given, Shape& shape) {
  switch (given.Type()) {
    case sdf::GeometryType::BOX:
      shape.type = Shape::Type::box;
      shape.size = vector(given.BoxShape()->Size());
      return true;
    case sdf::GeometryType::SPHERE:
      shape.type = Shape::Type::sphere;
      shape.size = {given.SphereShape()->Radius(), 0, 0};
      return true;
    case sdf::GeometryType::CYLINDER:
      shape.type = Shape::Type::cylinder;
      shape.size = {given.CylinderShape()->Radius(), given.CylinderShape()->Length(), 0};
      return true;
    case sdf::GeometryType::CAPSULE:
      shape.type = Shape::Type::capsule;
      shape.size = {given.CapsuleShape()->Radius(), given.CapsuleShape()->Length(), 0};
      return true;
    case sdf::GeometryType::ELLIPSOID:
      shape.type = Shape::Type::ellipsoid;
      shape.size = vector(given.EllipsoidShape()->Radii());
      return true;
    case sdf::GeometryType::MESH:
      shape.type = Shape::Type::mesh;
      shape.size = vector(given.MeshShape()->Scale());
      shape.mesh = given.MeshShape()->Uri();
      return true;
    case sdf::GeometryType::PLANE:
      shape.type = Shape::Type::plane;
      shape.size = vector(given.PlaneShape()->Normal());
      return true;
    default:
      return false;
  }
}

template <class Given>
std::optional<Shape> form(const Given& given) {
  Shape shape;
  if (!given.Geom() || !fill(*given.Geom(), shape)) return std::nullopt;
  ignition::math::Pose3d X_LG = given.RawPose();
  if (!given.SemanticPose().Resolve(X_LG).empty()) return std::nullopt;  // to the link
  shape.X_LG = pose(X_LG);
  return shape;
}

}  // namespace

std::optional<Shape> shape_of(const sdf::Visual& visual) {
  std::optional<Shape> shape = form(visual);
  if (shape && visual.Material()) {
    const ignition::math::Color c = visual.Material()->Diffuse();
    shape->color = {c.R(), c.G(), c.B(), c.A()};
    shape->colored = true;
  }
  return shape;
}

std::optional<Shape> shape_of(const sdf::Collision& collision) { return form(collision); }

}  // namespace kinegraph::io

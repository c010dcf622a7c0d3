#pragma once

#include <array>
#include <string>
#include <vector>

#include "kinegraph/report/label.hpp"

namespace kinegraph::report {

/// A place in a picture, in its units (about pixels); y points down.
struct Spot {
  double x = 0, y = 0;
};

struct SketchNode {
  enum class Shape {
    variable,   ///< a circle: unknown
    known,      ///< a grey square
    factor,     ///< a black dot
    created,    ///< a factor that elimination made
    clique,     ///< a box with rounded corners
    separator,  ///< a plain box on an edge of the clique tree
    shaded      ///< a grey circle: known, in a Bayes net
  };
  Shape shape = Shape::variable;
  std::string name;           ///< plain: "F3", "wrench l3"
  std::vector<Label> labels;  ///< one, but of cliques several
  int bar = -1;               ///< of a clique: a bar stands before this label
  int step = 0;               ///< the step of its elimination, from 1; 0: none
  std::string note;           ///< shown on pointing
  Spot at = {};
  double half_width = 0, half_height = 0;

  bool round() const;
  /// From a place to the node's outline; negative inside.
  double distance(Spot p) const;
};

/// A cubic curve from centre to centre.
using Bezier = std::array<Spot, 4>;
Spot at(const Bezier& curve, double t);
bool straight(const Bezier& curve);
/// The part of it between two nodes' outlines.
Bezier between(const Bezier& curve, const SketchNode& from, const SketchNode& to, double gap);

struct SketchEdge {
  int from = 0, to = 0;
  bool arrow = false;  ///< `to` is computed from `from`
  bool fresh = false;  ///< of a factor that elimination made
  Bezier curve = {};
};

/// A line of text at a place: names of joints above their columns, knots below theirs.
struct SketchText {
  std::string text;
  Spot at = {};  ///< the middle of its base line
  double size = 11;
};

/// A graph with a place for everything: what is drawn as SVG, dot or json.
struct Sketch {
  std::string title;
  std::vector<std::string> facts;   ///< lines below the title
  std::vector<std::string> legend;  ///< lines at the foot, beside the shapes
  std::vector<SketchNode> nodes;
  std::vector<SketchEdge> edges;
  std::vector<SketchText> texts;

  int find(const std::string& name) const;  ///< −1 if there is no such node
};

/// Sets the size of a node from its shape and labels.
void measure(SketchNode& node);

/// What is wrong with a picture: nodes or texts that overlap, edges that pass through a node that is not theirs or
/// through a text. Empty if it can be read.
std::vector<std::string> collisions(const Sketch& sketch);

/// Draws every edge as a straight line where that passes no other node, else as a curve around it.
void route(Sketch& sketch);

}  // namespace kinegraph::report

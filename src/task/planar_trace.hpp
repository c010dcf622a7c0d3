#pragma once

#include <memory>
#include <vector>

#include "kinegraph/codegen/program.hpp"
#include "kinegraph/filter/natural_packet.hpp"
#include "kinegraph/mechanics/natural/system.hpp"
#include "kinegraph/model/model.hpp"

namespace kinegraph::task {

/// What the particles of a planar machine ask for, each a straight-line program: the equations of natural_packet.inl,
/// traced with the machine's numbers. Every one ends with `good`, one number: > 0 where the system is regular.
///
/// Inputs: q, v (n each), then `law` where laws of time act: forces (n), torques, drivers (f, ḟ, f̈), as PacketTime has
/// them; `unknown` forces.
struct PlanarPrograms {
  bool has_law = false;
  codegen::Program rates;    ///< (q, v, law, unknown) → a
  codegen::Program correct;  ///< (q, v, law) → one Newton step onto Φ = 0 and Φ̇ = 0: q, v; how far off they were
  codegen::Program directions;  ///< (q) → how v answers to each noise: n numbers each
  /// In the chart of the independent coordinates, δ = (δz, δż): (q, v, law, δ) → along the tangent by δ, not yet on the
  /// constraints; then Newton steps that hold these coordinates.
  codegen::Program depart, hold;
  /// Of a sensor: (q, v) → y, and with noises (q, v) → y, then by noise and channel y's change along d in v, in q.
  struct Sense {
    bool traced = false;
    codegen::Program read, respond, along;  ///< along: (q, v) → y, then by number of δ and channel its change
  };
  std::vector<Sense> sensors;  ///< by sensor of the model; not those that see accelerations, forces or arcs
};

Result<PlanarPrograms> trace_planar(const Model& model, const natural::System& system,
                                    const filter::PacketProgram& packets, const std::vector<int>& independent);

}  // namespace kinegraph::task

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
  codegen::Program rates;       ///< (q, v, law, unknown) → a; counted, not run
  codegen::Program directions;  ///< (q) → how v answers to each noise: n numbers each
  /// Each ends with a Newton step onto Φ = 0 and Φ̇ = 0: q, v, how far off they still are; then, where they may leave
  /// the branch, how far they went, in the coordinates' lengths.
  codegen::Program step;     ///< (q, v, laws at the stages and at the end, h, unknown)
  codegen::Program correct;  ///< (q, v, law)
  codegen::Program kick;     ///< (q, v, law, directions, kicks: by noise of v, of q)
  codegen::Program retract;  ///< (q, v, law, δ) → δ = (δz, δż) in the chart of the independent coordinates
  codegen::Program hold;     ///< (q, v, law), these coordinates stay
  /// Of a sensor: (q, v) → y, and with noises (q, v) → y, then by noise and channel y's change along d in v, in q, and
  /// d.
  struct Sense {
    bool traced = false;
    codegen::Program read, respond, along;  ///< along: (q, v) → y, then by number of δ and channel its change
  };
  std::vector<Sense> sensors;  ///< by sensor of the model; not those that see accelerations, forces or arcs
};

Result<PlanarPrograms> trace_planar(const Model& model, const natural::System& system,
                                    const filter::PacketProgram& packets, const std::vector<int>& independent);

}  // namespace kinegraph::task

#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "kinegraph/base/progress.hpp"
#include "kinegraph/codegen/compiled.hpp"
#include "kinegraph/filter/natural_packet.hpp"
#include "kinegraph/task/planar_trace.hpp"

namespace kinegraph::task {

/// Packets of a planar machine moved by code that was generated for it and compiled here (planar_trace.hpp): the same
/// numbers as the kernels of natural_packet.inl give, to rounding. What the code does not answer for (a singular pose,
/// a slow projection) is left to others, as the kernels leave it.
class CompiledPackets final : public filter::PacketCode {
 public:
  /// Fails where there is no compiler.
  static Result<std::shared_ptr<const CompiledPackets>> make(const Model& model, const natural::System& system,
                                                             const filter::PacketProgram& program,
                                                             const std::vector<int>& independent,
                                                             const Progress& progress);

  void step(const filter::PacketLanes& lanes, double h, const filter::PacketTime* time,
            const double* force) const override;
  void directions(const filter::PacketLanes& lanes, double* d) const override;
  void kick(const filter::PacketLanes& lanes, const filter::PacketTime& time, const double* d,
            const double* kicks) const override;
  bool sees(int sensor) const override { return sensors_[sensor].read != nullptr; }
  void see(const filter::PacketLanes& lanes, int sensor, double* y) const override;
  void respond(const filter::PacketLanes& lanes, int sensor, double* y, double* along, double* d) const override;
  bool charts(const int* columns, int count) const override;
  void retract(const filter::PacketLanes& lanes, const filter::PacketTime& time, const double* delta) const override;
  void see_along(const filter::PacketLanes& lanes, int sensor, double* y, double* H) const override;

  int operations() const { return operations_; }  ///< of a step of the accelerations
  const std::string& compiler() const { return step_->compiler(); }

 private:
  using Code = std::shared_ptr<const codegen::Compiled>;
  struct Sense {
    Code read, respond, along;
    int rows = 0;
  };
  CompiledPackets(const filter::PacketProgram& program) : n_(program.n) {}
  int law_size() const { return has_law_ ? n_ + torques_ + 3 * drivers_ : 0; }
  double* put_law(const filter::PacketTime& time, double* law) const;
  void settle(const filter::PacketLanes& lanes, const double* law, const codegen::Compiled& correct, double* off,
              double* margin, double* other) const;
  void move(const filter::PacketLanes& lanes, const filter::PacketTime& time, const codegen::Compiled& code,
            std::array<const double*, 2> told, const codegen::Compiled& correct) const;
  void look(const filter::PacketLanes& lanes, const codegen::Compiled& code, std::array<double*, 3> answers) const;

  int n_, torques_ = 0, drivers_ = 0, forces_ = 0, stages_ = 0, operations_ = 0;
  bool has_law_ = false;
  std::vector<int> independent_;
  Code step_, correct_, hold_, kick_, retract_, directions_;
  std::vector<Sense> sensors_;
};

}  // namespace kinegraph::task

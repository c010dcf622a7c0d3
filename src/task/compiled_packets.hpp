#pragma once

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

  void step(const filter::PacketStates& states, const filter::PacketStep& step) const override;
  void kick(const filter::PacketStates& states, const filter::PacketKick& kick) const override;
  bool sees(int sensor) const override { return sensors_[sensor].read != nullptr; }
  void see(const filter::PacketStates& states, int sensor, double* y, double* along) const override;
  bool charts(const int* columns, int count) const override;
  void retract(const filter::PacketStates& states, const filter::PacketTime& time, const double* delta, int size,
               double* next) const override;
  void see_along(const filter::PacketStates& states, int sensor, double* y, double* H) const override;

  int operations() const { return operations_; }  ///< of a step of the accelerations
  const std::string& compiler() const { return rates_->compiler(); }

 private:
  using Code = std::shared_ptr<const codegen::Compiled>;
  struct Sense {
    Code read, respond, along;
    int rows = 0;
  };
  struct Group;
  CompiledPackets(const filter::PacketProgram& program) : n_(program.n), noises_(program.noises.count) {}
  void settle(Group& group, const filter::PacketTime& time, const codegen::Compiled& correct) const;
  void see(const filter::PacketStates& states, const codegen::Compiled& code, int rows, int slopes, double* y,
           double* along) const;
  void put_law(const filter::PacketTime& time, double* law) const;

  int n_, noises_, torques_ = 0, drivers_ = 0, forces_ = 0, operations_ = 0;
  bool has_law_ = false;
  std::vector<double> length_;
  std::vector<int> independent_;
  Code rates_, correct_, hold_, depart_, directions_;
  std::vector<Sense> sensors_;
};

}  // namespace kinegraph::task

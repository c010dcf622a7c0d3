#include "kinegraph/identify/run_inputs.hpp"

#include <algorithm>
#include <cmath>

namespace kinegraph::identify {

std::vector<double> means_over(const std::vector<double>& t, const std::vector<double>& values,
                               const std::vector<double>& times, bool held) {
  // The integral of the polygon (or of the stairs) from its first sample on, at any time: samples and knots are passed
  // once.
  std::vector<double> at, y;
  for (std::size_t i = 0; i < t.size(); ++i) {
    if (!std::isnan(values[i])) at.push_back(t[i]), y.push_back(values[i]);
  }
  std::vector<double> means(times.size() > 0 ? times.size() - 1 : 0, 0.0);
  if (at.empty()) return means;
  std::size_t left = 0;  // the sample before
  double until = 0;      // the integral to it
  const auto integral = [&](double time) {
    if (time <= at.front()) return y.front() * (time - at.front());
    while (left + 1 < at.size() && at[left + 1] <= time) {
      until += (held ? y[left] : 0.5 * (y[left] + y[left + 1])) * (at[left + 1] - at[left]);
      ++left;
    }
    const double rest = time - at[left];
    if (held || left + 1 == at.size()) return until + y[left] * rest;
    const double slope = (y[left + 1] - y[left]) / (at[left + 1] - at[left]);
    return until + rest * (y[left] + 0.5 * slope * rest);
  };
  double before = integral(times.front());
  for (std::size_t k = 0; k < means.size(); ++k) {
    const double after = integral(times[k + 1]);
    means[k] = (after - before) / (times[k + 1] - times[k]);
    before = after;
  }
  return means;
}

RunInputs::RunInputs(const Model& model, const maximal::Mechanism& mechanism) : mechanism_(mechanism) {
  using What = Channel::What;
  const Robot& robot = mechanism.tree().robot();
  const auto& freedoms = mechanism.freedoms();
  for (int f = 0; f < static_cast<int>(freedoms.size()); ++f) {
    if (model.spatial()) {
      std::string name = mechanism.tree().torque_names()[freedoms[f].velocity];
      add({name, What::torque, f, 0, Law(), ""});
      if (const std::size_t tau = name.rfind(".tau"); tau != std::string::npos) {
        add({name.replace(tau, 4, ".u"), What::control, f, 0, Law(), ""});
      }
      continue;
    }
    const int joint = mechanism.joints()[freedoms[f].joint].coordinate < 0
                          ? -1
                          : mechanism.tree().coordinates()[mechanism.joints()[freedoms[f].joint].coordinate].joint;
    for (const JointTorque& motor : robot.torques) {
      if (motor.joint.value != joint || freedoms[f].index != 0) continue;
      add({motor.name + ".tau", What::torque, f, 0, motor.torque, motor.name + ".u"});
      add({motor.name + ".u", What::control, f, 0, Law(), ""});
    }
  }
  for (int i = 0; i < static_cast<int>(robot.loads.size()); ++i) {
    const LinkLoad& load = robot.loads[i];
    const bool turns = std::any_of(model.torques.begin(), model.torques.end(),
                                   [&](const BodyTorque& torque) { return torque.name == load.name; });
    if (turns) {
      add({load.name + ".tau", What::moment, i, 2, load.torque[2], ""});
    } else {
      for (int axis = 0; axis < 2; ++axis) {
        add({load.name + (axis == 0 ? ".fx" : ".fy"), What::force, i, axis, load.force[axis], ""});
      }
    }
  }
}

void RunInputs::add(Channel channel) {
  columns_.push_back(channel.column);
  channels_.push_back(std::move(channel));
}

bool RunInputs::takes(const std::string& column) const {
  return std::find(columns_.begin(), columns_.end(), column) != columns_.end();
}

std::optional<RunInputs::Motor> RunInputs::motor(const std::string& column) const {
  for (const Channel& channel : channels_) {
    if (channel.column != column) continue;
    if (channel.what == Channel::What::torque) return Motor{channel.index, false};
    if (channel.what == Channel::What::control) return Motor{channel.index, true};
  }
  return {};
}

double& RunInputs::place(step::StepInput& input, const Channel& channel) {
  switch (channel.what) {
    case Channel::What::torque:
      return input.torque[channel.index];
    case Channel::What::control:
      return input.control[channel.index];
    case Channel::What::force:
      return input.force[channel.index][channel.axis];
    default:
      return input.moment[channel.index][channel.axis];
  }
}

std::vector<step::StepInput> RunInputs::over(const Trajectory& table, const std::vector<double>& times, bool held,
                                             const std::vector<std::string>& without) const {
  const std::size_t steps = times.size() - 1;
  std::vector<double> middles = {1.5 * times[0] - 0.5 * times[1]};
  for (std::size_t k = 0; k < steps; ++k) middles.push_back(0.5 * (times[k] + times[k + 1]));
  std::vector<step::StepInput> inputs(steps, step::StepInput(mechanism_, 0));
  for (std::size_t k = 0; k < steps; ++k) inputs[k].h = times[k + 1] - times[k];
  for (const Channel& channel : channels_) {
    if (std::find(without.begin(), without.end(), channel.column) != without.end()) continue;
    const int column = table.find(channel.column);
    if (column >= 0) {
      const std::vector<double> means = means_over(table.times(), table.column(column), middles, held);
      for (std::size_t k = 0; k < steps; ++k) place(inputs[k], channel) += means[k];
    } else if (channel.instead.empty() || table.find(channel.instead) < 0) {
      if (channel.law.is_constant() && channel.law(0) == 0) continue;
      for (std::size_t k = 0; k < steps; ++k) {  // Simpson's rule
        const double a = middles[k], b = middles[k + 1];
        place(inputs[k], channel) += (channel.law(a) + 4 * channel.law(0.5 * (a + b)) + channel.law(b)) / 6;
      }
    }
  }
  const auto& freedoms = mechanism_.freedoms();
  for (std::size_t f = 0; f < freedoms.size(); ++f) {
    if (freedoms[f].drive < 0) continue;
    const Law& law = mechanism_.tree().robot().drives[freedoms[f].drive].law;
    for (std::size_t k = 0; k < steps; ++k) inputs[k].target[f] = law(times[k + 1]);
  }
  return inputs;
}

}  // namespace kinegraph::identify

#pragma once

#include <Eigen/Core>
#include <memory>
#include <string>
#include <vector>

#include "kinegraph/mechanics/maximal/mechanism.hpp"
#include "kinegraph/model/model.hpp"

namespace kinegraph::identify {

/// Sizes of a machine: what is small or large beside it.
struct MachineSize {
  double mass = 1, length = 1;
  explicit MachineSize(const Robot& robot);
};

/// All numbers of a machine that parameters act on, as a function of some of its settings s, and their slopes by these.
///
///     y(s) = [numbers of the Mechanism | ten of each link | bias of each channel | scale of each channel]
///
/// Slopes are differences of fourth order. Columns that do not change with s are found out once: that a mass or a
/// friction is a number of the equations itself costs nothing after.
class MachineNumbers {
 public:
  struct Point {
    Model model;
    Eigen::VectorXd y;
  };

  /// `typical`: by how much each setting may well change. `flat`: first of four settings mass, cog x y, I₀ of a planar
  /// body, of which s holds I_c = I₀ − m |cog|² in place of I₀: y is linear in these. Sensors that the model's source
  /// does not know are taken as they are; their offset and scale are the settings name.bias and name.scale.
  static Result<MachineNumbers> make(const Model& model, std::shared_ptr<const maximal::Mechanism> mechanism,
                                     std::vector<std::string> settings, const Eigen::VectorXd& start,
                                     const Eigen::VectorXd& typical, const std::vector<int>& flat = {});

  /// Fails where the model's own rules are broken.
  Result<Point> at(const Eigen::VectorXd& s) const;
  /// ∂y/∂s; y: that of at(s).
  Result<Eigen::MatrixXd> slope(const Eigen::VectorXd& s, const Eigen::VectorXd& y) const;
  bool constant(int setting) const { return constant_[setting]; }  ///< whether its column is the same everywhere
  /// At the start.
  const Eigen::VectorXd& start() const { return start_; }
  const Eigen::VectorXd& start_y() const { return start_y_; }
  const Eigen::MatrixXd& start_slope() const { return start_slope_; }

  // Places in y.
  int links() const { return numbers_; }  ///< of link i: links() + 10 i: mass, com, ixx ixy ixz iyy iyz izz
  int biases() const { return biases_; }
  int scales() const { return biases_ + channels_; }
  int channels() const { return channels_; }
  int size() const { return biases_ + 2 * channels_; }

  /// The sensors of `model` that its source does not know.
  static std::vector<Sensor> added_sensors(const Model& model);

 private:
  Result<Eigen::VectorXd> column(const Eigen::VectorXd& s, const Eigen::VectorXd& y, int setting) const;
  Eigen::VectorXd magnitudes() const;
  Result<bool> find_constants();
  Eigen::VectorXd probe(int round) const;

  Model model_;
  std::vector<Sensor> added_;
  std::shared_ptr<const maximal::Mechanism> mechanism_;
  std::vector<std::string> settings_;
  std::vector<int> flat_;
  Eigen::VectorXd start_, typical_, start_y_, magnitude_;
  Eigen::MatrixXd start_slope_;
  std::vector<bool> constant_;
  int numbers_ = 0, biases_ = 0, channels_ = 0;
};

}  // namespace kinegraph::identify

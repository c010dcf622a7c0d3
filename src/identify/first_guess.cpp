#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <Eigen/QR>
#include <algorithm>
#include <cmath>

#include "kinegraph/base/names.hpp"
#include "kinegraph/base/numbers.hpp"
#include "kinegraph/identify/machine_numbers.hpp"
#include "kinegraph/identify/reading_tracks.hpp"
#include "kinegraph/identify/run.hpp"
#include "kinegraph/mechanics/maximal/conversion.hpp"
#include "kinegraph/mechanics/screw/kinematics.hpp"
#include "kinegraph/mechanics/sensor/observer.hpp"
#include "kinegraph/mechanics/sensor/screw_places.hpp"

// Knot by knot in joint coordinates q, where joints of the tree hold by themselves:
//
//     min  w_c² |φ(q)|² + w_r² Σ (y − h(q, v))² + |q ⊟ q̂|²,     v = (q ⊟ q₋)/h
//
// φ: what loops are open by; h: readings; q̂: where the knots before lead. Heavy loops, readings a hundred times
// lighter, q̂ lighter still: it decides only what nothing else tells.

namespace kinegraph::identify {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kLoops = 1e4, kReadings = 1e2;  // weights beside that of q̂
constexpr double kStage = 0.1;                   // rad, m over lengths: how far readings are led at once
constexpr double kLongest = 0.3;                 // the same: of one Gauss-Newton step
constexpr double kStill = 1e-8;                  // steps below this are none
constexpr double kClosed = 1e-6;                 // rad, m over lengths
constexpr double kRank = 1e-6;
constexpr int kMostStages = 400, kPatience = 60, kPasses = 4;

class Guess {
 public:
  Guess(const Model& model, const maximal::Mechanism& mechanism, const VectorXd& numbers, const Run& run,
        const RunOptions& options)
      : model_(model),
        mechanism_(mechanism),
        tree_(mechanism.tree()),
        numbers_(numbers),
        run_(run),
        length_(MachineSize(tree_.robot()).length),
        tracks_(reading_tracks(model.sensors, run, options.smoothing)),
        observer_(sensor::make_observer(model, mechanism.shared_tree())),
        n_(tree_.freedoms()) {
    const int loops = static_cast<int>(tree_.loops().size());
    instant_.a = instant_.tau = VectorXd::Zero(n_);
    instant_.reaction = VectorXd::Zero(6 * (static_cast<int>(tree_.bodies().size()) + loops));
    instant_.v = VectorXd::Zero(n_);
    instant_.dq = MatrixXd::Identity(n_, n_);
    instant_.dv = instant_.da = instant_.dtau = MatrixXd::Zero(n_, n_);
    instant_.dreaction = MatrixXd::Zero(instant_.reaction.size(), n_);
    poses_.resize(tree_.bodies().size());
    closure_.resize(6 * loops);
    closure_slope_.setZero(6 * loops, n_);
    target_.resize(tracks_.size());
    metres_.assign(n_, false);
    for (const maximal::Freedom& freedom : mechanism.freedoms()) metres_[freedom.velocity] = !freedom.angular;
  }

  Result<std::vector<double>> run() {
    poses_out_.resize(static_cast<std::size_t>(mechanism_.stored()) * (run_.knots() + 1));
    if (take_encoders()) return std::move(poses_out_);
    if (Result<VectorXd> first = first_knot(); !first) {
      return first.failure();
    } else {
      follow(*std::move(first));
    }
    const bool finite = std::all_of(poses_out_.begin(), poses_out_.end(), [](double x) { return std::isfinite(x); });
    if (!finite) return Failure::no_answer(run_.file + ": no first guess of the motion: its readings lead nowhere");
    return std::move(poses_out_);
  }

  bool is_told() { return determined(tree_.start_position()); }

  void go_on(int from, std::vector<double>& poses) {
    poses_out_.swap(poses);
    VectorXd q = tree_.start_position();
    before_ = q;
    if (from > 0) maximal::coordinates_of(mechanism_, numbers_, pose(from - 1), before_.data());
    q = before_;
    maximal::coordinates_of(mechanism_, numbers_, pose(from), q.data());
    go_on(q, from, false);
    poses_out_.swap(poses);
  }

 private:
  double* pose(int knot) { return poses_out_.data() + static_cast<std::ptrdiff_t>(mechanism_.stored()) * (knot + 1); }
  void put(int knot, const VectorXd& q) { maximal::poses_of(mechanism_, numbers_, q.data(), pose(knot)); }
  double unit(const ReadingTrack& track) const {
    return model_.sensors[track.sensor].channels[track.row].unit.starts_with('m') ? length_ : 1;
  }

  // ---- every joint has an encoder -----------------------------------------------------------------------------

  /// Readings are positions as they stand; false if that is not so.
  bool take_encoders() {
    if (!tree_.loops().empty()) return false;
    const std::vector<sensor::ScrewPlace> places = sensor::screw_places(model_, tree_);
    std::vector<const ReadingTrack*> of_number(tree_.stored(), nullptr);
    for (const ReadingTrack& track : tracks_) {
      const sensor::ScrewPlace& place = places[track.sensor];
      if (model_.sensors[track.sensor].type != SensorType::encoder || place.line || place.coordinate < 0) continue;
      const screw::Coordinate& coordinate = tree_.coordinates()[place.coordinate];
      const bool whole = std::find(track.given.begin(), track.given.end(), false) == track.given.end();
      if (coordinate.stored == coordinate.freedoms && whole) of_number[coordinate.q + place.q] = &track;
    }
    if (std::find(of_number.begin(), of_number.end(), nullptr) != of_number.end()) return false;
    VectorXd q(tree_.stored()), near[3];
    for (int k = 0; k < run_.knots(); ++k) {
      for (int i = 0; i < tree_.stored(); ++i) {
        const ReadingTrack& track = *of_number[i];
        const SensorChannel& channel = model_.sensors[track.sensor].channels[0];
        const sensor::ScrewPlace& place = places[track.sensor];
        q[i] = ((track.y[k] - channel.bias) / channel.scale - place.offset) / place.ratio;
      }
      if (k < 3) near[k] = q;
      put(k, q);
    }
    put_before(near);
    return true;
  }

  /// The knot before the first, on the parabola of the three that follow.
  void put_before(const VectorXd near[3]) {
    VectorXd first(n_), second(n_), q(tree_.stored());
    tree_.local(near[0].data(), near[1].data(), first.data());
    tree_.local(near[0].data(), near[2].data(), second.data());
    const VectorXd back = second - 3 * first;
    tree_.retract(near[0].data(), back.data(), q.data());
    if (!tree_.loops().empty()) settle(q, VectorXd(q), -1, kPasses, false);
    put(-1, q);
  }

  // ---- Gauss-Newton -------------------------------------------------------------------------------------------

  /// Readings at `instant_` with their slopes, and what each lacks to its target.
  void add_readings(int knot, bool rates, MatrixXd& A, VectorXd& b) {
    int read = -1;
    for (std::size_t i = 0; i < tracks_.size(); ++i) {
      const ReadingTrack& track = tracks_[i];
      if (!track.given[std::max(knot, 0)] || (track.rate && !rates)) continue;
      const SensorChannel& channel = model_.sensors[track.sensor].channels[track.row];
      if (read != track.sensor) {
        slope_.resize(observer_->rows(track.sensor), n_);
        observer_->read(instant_, track.sensor, reading_, slope_);
        read = track.sensor;
      }
      double lacks = target_[i] - channel.scale * reading_[track.row] - channel.bias;
      if (channel.circular) lacks -= kTurn * channel.scale * std::round(lacks / (kTurn * channel.scale));
      const double weight = kReadings / unit(track) * (track.rate ? step_ : 1);
      row_ = (weight * channel.scale) * slope_.row(track.row).transpose();
      A.selfadjointView<Eigen::Lower>().rankUpdate(row_);
      b += weight * lacks * row_;
    }
  }

  double add_loops(const VectorXd& q, MatrixXd& A, VectorXd& b) {
    if (tree_.loops().empty()) return 0;
    screw::body_poses(tree_, q.data(), poses_);
    screw::closure(tree_, q.data(), poses_, closure_.data());
    screw::closure_jacobian(tree_, q.data(), poses_, closure_slope_);
    for (int r = 0; r < closure_.size(); ++r) {
      if (r % 6 >= 3) closure_[r] /= length_, closure_slope_.row(r) /= length_;
    }
    A.selfadjointView<Eigen::Lower>().rankUpdate(closure_slope_.transpose(), kLoops * kLoops);
    b -= kLoops * kLoops * closure_slope_.transpose() * closure_;
    return closure_.cwiseAbs().maxCoeff();
  }

  /// Moves q to the least of the sum above. `before_`: q₋, if rates count. False: it goes on moving, or loops are open.
  bool settle(VectorXd& q, const VectorXd& expected, int knot, int passes, bool readings) {
    MatrixXd A(n_, n_);
    VectorXd b(n_), away(n_), delta(n_), moved(q.size());
    const bool rates = before_.size() > 0;
    for (int pass = 0; pass < passes; ++pass) {
      A.setZero();
      tree_.local(q.data(), expected.data(), away.data());
      for (int i = 0; i < n_; ++i) A(i, i) = metres_[i] ? 1 / (length_ * length_) : 1;
      b = A.diagonal().cwiseProduct(away);
      const double open = add_loops(q, A, b);
      if (readings) {
        instant_.q = q;
        if (rates) {
          tree_.local(before_.data(), q.data(), instant_.v.data());
          instant_.v /= step_;
        }
        instant_.dq.setIdentity();
        instant_.dv.setZero();
        if (rates) instant_.dv.diagonal().setConstant(1 / step_);
        add_readings(knot, rates, A, b);
      }
      const Eigen::LDLT<MatrixXd, Eigen::Lower> factor(A);
      delta = factor.solve(b);
      if (!delta.allFinite()) return false;
      double longest = 0;
      for (int i = 0; i < n_; ++i) longest = std::max(longest, std::abs(delta[i]) / (metres_[i] ? length_ : 1));
      if (longest > kLongest) delta *= kLongest / longest;
      tree_.retract(q.data(), delta.data(), moved.data());
      q = moved;
      if (longest < kStill) return open < kClosed;
    }
    return false;
  }

  // ---- the first knot -----------------------------------------------------------------------------------------

  /// From where the model starts, loops closed, to the first readings in stages: so that loops keep their branch.
  Result<VectorXd> first_knot() {
    VectorXd q = tree_.start_position();
    before_.resize(0);
    step_ = run_.step(0);
    if (!tree_.loops().empty() && !settle(q, VectorXd(q), 0, kPatience, false)) return open_loop(q);
    const VectorXd start = q;
    VectorXd from(tracks_.size()), lack(tracks_.size());
    double farthest = 0;
    instant_.q = q;
    for (std::size_t i = 0; i < tracks_.size(); ++i) {
      const ReadingTrack& track = tracks_[i];
      const SensorChannel& channel = model_.sensors[track.sensor].channels[track.row];
      observer_->read(instant_, track.sensor, reading_);
      from[i] = channel.scale * reading_[track.row] + channel.bias;
      lack[i] = track.y[0] - from[i];
      if (channel.circular) lack[i] -= kTurn * channel.scale * std::round(lack[i] / (kTurn * channel.scale));
      if (!track.rate && track.given[0]) farthest = std::max(farthest, std::abs(lack[i]) / unit(track));
    }
    const int stages = std::clamp(static_cast<int>(std::ceil(farthest / kStage)), 1, kMostStages);
    for (int s = 1; s <= stages; ++s) {
      target_ = from + (static_cast<double>(s) / stages) * lack;
      const bool last = s == stages;
      if (!settle(q, tree_.loops().empty() ? start : VectorXd(q), 0, last ? kPatience : kPasses, true) && last) {
        VectorXd closed = q;
        if (!tree_.loops().empty() && !settle(closed, q, 0, kPatience, false)) return open_loop(q);
      }
    }
    return q;
  }

  Failure open_loop(const VectorXd& q) {
    screw::body_poses(tree_, q.data(), poses_);
    screw::closure(tree_, q.data(), poses_, closure_.data());
    int worst = 0;
    closure_.cwiseAbs().maxCoeff(&worst);
    return Failure::no_answer(
        fmt::format("{}: the mechanism cannot be assembled at the first readings: loop {} stays open", run_.file,
                    quote(tree_.loops()[worst / 6].name)));
  }

  /// Velocities at the first knot: those of the readings, else the model's.
  VectorXd first_velocity(const VectorXd& q) {
    MatrixXd A = MatrixXd::Identity(n_, n_);
    VectorXd b = tree_.start_velocity();
    VectorXd opening = VectorXd::Zero(n_);
    add_loops(q, A, opening);
    instant_.q = q;
    instant_.v.setZero();
    for (const ReadingTrack& track : tracks_) {
      if (!track.given[0]) continue;
      const SensorChannel& channel = model_.sensors[track.sensor].channels[track.row];
      instant_.dq.setZero(), instant_.dv.setZero();
      (track.rate ? instant_.dv : instant_.dq).setIdentity();
      slope_.resize(observer_->rows(track.sensor), n_);
      observer_->read(instant_, track.sensor, reading_, slope_);
      const double value =
          track.rate ? track.y[0] - channel.bias : (4 * track.y[1] - 3 * track.y[0] - track.y[2]) / (2 * run_.step(0));
      const double weight = kReadings / unit(track);
      row_ = (weight * channel.scale) * slope_.row(track.row).transpose();
      A.selfadjointView<Eigen::Lower>().rankUpdate(row_);
      b += weight * value * row_;
    }
    return Eigen::LDLT<MatrixXd, Eigen::Lower>(A).solve(b);
  }

  // ---- the others ---------------------------------------------------------------------------------------------

  /// Whether loops and readings tell all positions, or rates of them.
  bool determined(const VectorXd& q) {
    MatrixXd A = MatrixXd::Zero(n_, n_);
    VectorXd b = VectorXd::Zero(n_);
    add_loops(q, A, b);
    MatrixXd rows(closure_slope_.rows() + static_cast<int>(tracks_.size()), n_);
    rows.topRows(closure_slope_.rows()) = closure_slope_;
    instant_.q = q;
    instant_.dq.setIdentity(), instant_.dv.setIdentity();
    int r = static_cast<int>(closure_slope_.rows());
    for (const ReadingTrack& track : tracks_) {
      slope_.resize(observer_->rows(track.sensor), n_);
      observer_->read(instant_, track.sensor, reading_, slope_);
      rows.row(r++) = slope_.row(track.row) / unit(track);
    }
    Eigen::ColPivHouseholderQR<MatrixXd> qr(rows);
    qr.setThreshold(kRank);
    return qr.rank() == n_;
  }

  void follow(VectorXd q) {
    const bool all_told = determined(q);
    VectorXd near[3];
    near[0] = q;
    put(0, q);
    const VectorXd delta = -run_.step(0) * first_velocity(q);
    VectorXd earlier(q.size());
    tree_.retract(q.data(), delta.data(), earlier.data());
    if (!tree_.loops().empty()) {
      before_.resize(0);
      settle(earlier, VectorXd(earlier), -1, kPasses, false);
    }
    put(-1, earlier);
    before_ = earlier;
    go_on(q, 0, all_told, near);
    if (all_told) {
      before_.resize(0);
      put_before(near);
    }
  }

  /// The knots after `from`, where the machine is at q; before_: one knot before. The first three are also put `near`.
  void go_on(VectorXd q, int from, bool all_told, VectorXd near[3] = nullptr) {
    VectorXd expected = q, delta(n_);
    Forward forward(mechanism_, numbers_);
    for (int k = from + 1; k < run_.knots(); ++k) {
      step_ = run_.step(k - 1);
      tree_.local(before_.data(), q.data(), delta.data());
      if (k > 1) delta *= step_ / run_.step(k - 2);
      tree_.retract(q.data(), delta.data(), expected.data());
      const bool told =
          all_told && std::all_of(tracks_.begin(), tracks_.end(), [k](const auto& t) { return t.given[k]; });
      const double last_step = k > 1 ? run_.step(k - 2) : step_;
      if (!told) forward.advance(pose(k - 2), pose(k - 1), run_.input[k - 1], last_step, q, expected);
      for (std::size_t i = 0; i < tracks_.size(); ++i) {
        const ReadingTrack& track = tracks_[i];
        target_[i] = track.rate ? 0.5 * (track.y[k - 1] + track.y[k]) : track.y[k];
      }
      before_ = q;
      q = expected;
      settle(q, expected, k, kPasses, true);
      put(k, q);
      if (near && k < 3) near[k] = q;
    }
  }

  /// The machine's own motion over one step.
  class Forward {
   public:
    Forward(const maximal::Mechanism& mechanism, const VectorXd& numbers)
        : mechanism_(mechanism),
          numbers_(numbers),
          step_({std::shared_ptr<const void>(), &mechanism}, {}),  // used while the mechanism lives
          grip_(mechanism.freedoms().size(), maximal::Grip::none),
          v_(mechanism.tangent()),
          after_(mechanism.tangent()),
          pose_(mechanism.stored()) {
      step_.set_numbers(numbers);
    }

    /// Joint positions after the step; angles near those before, `q`. Left as they are if there is no answer.
    void advance(const double* before, const double* now, const step::StepInput& input, double last_step,
                 const VectorXd& q, VectorXd& expected) {
      const int bodies = static_cast<int>(mechanism_.bodies().size());
      maximal::local(bodies, before, now, v_.data());
      v_ /= last_step;
      if (!step_.advance(now, v_.data(), input, grip_.data(), after_.data())) return;
      after_ *= input.h;
      maximal::retract(bodies, now, after_.data(), pose_.data());
      VectorXd there = q;
      maximal::coordinates_of(mechanism_, numbers_, pose_.data(), there.data());
      if (there.allFinite()) expected = there;
    }

   private:
    const maximal::Mechanism& mechanism_;
    const VectorXd& numbers_;
    step::RegularizedStep step_;
    std::vector<maximal::Grip> grip_;
    VectorXd v_, after_, pose_;
  };

  const Model& model_;
  const maximal::Mechanism& mechanism_;
  const screw::Tree& tree_;
  const VectorXd& numbers_;
  const Run& run_;
  const double length_;
  const std::vector<ReadingTrack> tracks_;
  const std::unique_ptr<sensor::Observer> observer_;
  const int n_;
  double step_ = 0;
  sensor::Instant instant_;
  screw::Poses poses_;
  VectorXd closure_, target_, before_, row_;
  MatrixXd closure_slope_, slope_;
  double reading_[6] = {};
  std::vector<bool> metres_;  // per freedom of the tree
  std::vector<double> poses_out_;
};

}  // namespace

Result<std::vector<double>> first_guess(const Model& model, const maximal::Mechanism& mechanism,
                                        const Eigen::VectorXd& numbers, const Run& run, const RunOptions& options) {
  return Guess(model, mechanism, numbers, run, options).run();
}

bool readings_tell_all(const Model& model, const maximal::Mechanism& mechanism, const Eigen::VectorXd& numbers,
                       const Run& run, const RunOptions& options) {
  return Guess(model, mechanism, numbers, run, options).is_told();
}

void guess_further(const Model& model, const maximal::Mechanism& mechanism, const Eigen::VectorXd& numbers,
                   const Run& run, const RunOptions& options, int from, std::vector<double>& poses) {
  Guess(model, mechanism, numbers, run, options).go_on(from, poses);
}

}  // namespace kinegraph::identify

#include "kinegraph/task/estimate_start.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>

#include "kinegraph/base/names.hpp"
#include "kinegraph/base/random.hpp"
#include "kinegraph/base/time_text.hpp"

namespace kinegraph::task {
namespace {

constexpr int kMostUnknown = 2;          // of an unknown start in hypotheses
constexpr int kPlaces[] = {0, 36, 144};  // hypotheses per branch, by freedoms
constexpr std::uint64_t kStartStream = 2;

/// The chart in which the start is told: the machine's independent coordinates.
filter::Chart start_chart(const Machine& machine) { return {machine.independent, {}}; }

Failure not_assembled(double t) {
  return Failure::no_answer(
      fmt::format("the machine cannot be assembled at the first reading, t = {} s", time_text(t)));
}

}  // namespace

std::vector<std::string> start_numbers(const Machine& machine) {
  std::vector<std::string> names;
  const filter::Chart chart = start_chart(machine);
  for (int i = 0; i < machine.space->tangent(); ++i) names.push_back(machine.space->tangent_name(chart, i));
  return names;
}

Result<EstimateStart> EstimateStart::make(Machine& machine, double t, const EstimateOptions& options) {
  EstimateStart start(machine, t, options);
  if (auto prepared = start.prepare(); !prepared) return prepared.failure();
  return start;
}

/// What is said of the start must be of numbers that it has, and not of those that an unknown start leaves open.
Failure EstimateStart::check_known() const {
  Failure faults{Failure::Kind::bad_input, {}};
  const auto fault = [&](std::string message) {
    faults.diagnostics.push_back({Severity::error, {}, std::move(message)});
  };
  const std::vector<std::string> valid = start_numbers(machine_);
  const int freedoms = machine_.plant().freedoms();
  for (const auto& [name, sd] : options_.start_sd) {
    const auto number = std::find(valid.begin(), valid.end(), name) - valid.begin();
    if (number == static_cast<std::ptrdiff_t>(valid.size())) {
      fault(fmt::format("start-sd: {} is none of the numbers of the state: {}{}", quote(name), fmt::join(valid, ", "),
                        did_you_mean(name, valid)));
    } else if (unknown_ && number < freedoms) {
      fault(fmt::format("start-sd {}: has no meaning where the start is unknown; take --start file", name));
    } else if (unknown_ && number < 2 * freedoms && options_.filter == "particle") {
      fault(fmt::format("start-sd {}: rates of particles with an unknown start are told by --start-speed", name));
    }
  }
  if (!unknown_ && options_.start_speed > 0) {
    fault("start-speed: is for an unknown start; take --start-sd for the rates of the file's");
  }
  if (unknown_ && options_.branches == "file") fault("branches: must be all where the start is unknown");
  return faults;
}

Result<std::monostate> EstimateStart::prepare() {
  const bool told = machine_.model.spatial() || !machine_.model.initial.empty();
  unknown_ = options_.start.empty() ? !told : options_.start == "unknown";
  if (Failure faults = check_known(); !faults.diagnostics.empty()) return faults;
  const int freedoms = machine_.plant().freedoms();
  if (unknown_ && freedoms > kMostUnknown && options_.filter != "particle") {
    return Failure::bad_input(fmt::format(
        "start: unknown needs too many hypotheses for {} degrees of freedom; take --start file, or --filter particle",
        freedoms));
  }
  if (!unknown_ && options_.branches != "all") return std::monostate{};
  auto found = find_branches(machine_.model, {options_.seed, machine_.tree != nullptr, ""});
  if (!found) return found.failure();
  branches_ = *std::move(found);
  names_ = branches_->names();
  return std::monostate{};
}

// P is told in independent coordinates, then carried to the chart that the estimator counts in: P' = T P Tᵀ.
Result<filter::Belief> EstimateStart::about(Eigen::VectorXd x, const Eigen::VectorXd& place_sd, double rate_sd,
                                            int branch) const {
  filter::MachineSpace& space = *machine_.space;
  const int f = machine_.plant().freedoms(), n = space.tangent();
  filter::Belief belief;
  belief.t = t_;
  belief.branch = branch;
  belief.x = std::move(x);
  if (!machine_.plant().shift(t_, belief.x.data(), nullptr, nullptr) ||
      !space.choose(t_, belief.x.data(), belief.chart)) {
    return not_assembled(t_);
  }
  Eigen::VectorXd sd(n);
  sd.head(f) = place_sd;
  sd.segment(f, f).setConstant(rate_sd);
  sd.tail(space.extras()) = space.extra_sd();
  const std::vector<std::string> names = start_numbers(machine_);
  for (int i = unknown_ ? f : 0; i < n; ++i) {
    if (const auto given = options_.start_sd.find(names[i]); given != options_.start_sd.end()) sd[i] = given->second;
  }
  Eigen::MatrixXd T;
  if (!space.transition(t_, belief.x.data(), start_chart(machine_), belief.chart, T)) {
    return Failure::no_answer("the independent coordinates do not serve at the start: it may be a singular position");
  }
  belief.P = T * sd.cwiseAbs2().asDiagonal() * T.transpose();
  return belief;
}

Result<filter::Belief> EstimateStart::file() const {
  const Eigen::VectorXd sd = Eigen::VectorXd::Constant(machine_.plant().freedoms(), kStartSd);
  return about(machine_.space->state(machine_.q, machine_.v), sd, kStartRateSd, 0);
}

// Of a number that is anywhere within ± start_speed.
double EstimateStart::speed_sd() const { return options_.start_speed / std::sqrt(3.0); }

Result<std::vector<filter::Belief>> EstimateStart::beliefs() const {
  if (unknown_) {
    const int each = kPlaces[std::clamp(machine_.plant().freedoms(), 1, kMostUnknown)];
    return everywhere(each, options_.start_speed > 0 ? speed_sd() : kStartRateSd);
  }
  auto belief = file();
  if (!belief) return belief.failure();
  if (!branches_) return std::vector{*std::move(belief)};
  return other_branches(*std::move(belief));
}

/// The file's independent coordinates in every branch: of places spread over it the nearest, brought there.
Result<std::vector<filter::Belief>> EstimateStart::other_branches(filter::Belief file) const {
  filter::Plant& plant = machine_.plant();
  const filter::Chart chart = start_chart(machine_);
  const std::vector<Configuration> places = branches_->samples(kPlaces[1]);
  std::vector<filter::Belief> beliefs{std::move(file)};
  for (int branch = 1; branch < branches_->count(); ++branch) {
    Eigen::VectorXd nearest, step;
    for (const Configuration& place : places) {
      if (place.branch != branch) continue;
      Eigen::VectorXd x = machine_.space->state(place.q, Eigen::VectorXd::Zero(plant.velocities()));
      Eigen::VectorXd delta(plant.tangent());
      plant.local(x.data(), chart, beliefs[0].x.data(), delta.data());
      for (std::size_t i = 0; i < chart.columns.size(); ++i) {
        if (plant.circular(chart.columns[i])) delta[i] = std::remainder(delta[i], 2 * EIGEN_PI);
      }
      if (nearest.size() > 0 && delta.head(plant.freedoms()).norm() >= step.head(plant.freedoms()).norm()) continue;
      nearest = std::move(x);
      step = std::move(delta);
    }
    if (nearest.size() == 0) continue;
    Eigen::VectorXd x = nearest;
    if (!plant.retract(t_, nearest.data(), chart, step.data(), x.data())) continue;  // the branch does not reach so far
    const Eigen::VectorXd sd = Eigen::VectorXd::Constant(plant.freedoms(), kStartSd);
    auto belief = about(std::move(x), sd, kStartRateSd, branch);
    if (belief) beliefs.push_back(*std::move(belief));
  }
  return beliefs;
}

/// How far apart places are along each independent coordinate.
Eigen::VectorXd EstimateStart::spacing(const std::vector<Configuration>& places, int branch, int count) const {
  const int f = machine_.plant().freedoms();
  Eigen::VectorXd low = Eigen::VectorXd::Constant(f, std::numeric_limits<double>::infinity()), high = -low;
  Eigen::VectorXd x;
  for (const Configuration& place : places) {
    if (place.branch != branch) continue;
    x = machine_.space->state(place.q, Eigen::VectorXd::Zero(machine_.plant().velocities()));
    for (int i = 0; i < f; ++i) {
      const double z = machine_.position(x.data(), machine_.independent[i]);
      low[i] = std::min(low[i], z);
      high[i] = std::max(high[i], z);
    }
  }
  constexpr double kLeast = 1e-3;
  return ((high - low) / std::pow(count, 1.0 / f)).cwiseMax(kLeast);
}

Result<std::vector<filter::Belief>> EstimateStart::cells(int count) const {
  const int freedoms = machine_.plant().freedoms();
  if (!unknown_ || freedoms > kMostUnknown) return std::vector<filter::Belief>{};
  return everywhere(std::clamp(count / branches(), 1, kPlaces[std::max(1, freedoms)]), speed_sd());
}

/// A state at rest; where hypotheses are denser also with rates spread over ± √3 rate_sd, along each freedom. Of those
/// the deviation is rate_sd / finer.
std::vector<Eigen::VectorXd> EstimateStart::with_rates(const Eigen::VectorXd& x, double rate_sd) const {
  filter::Plant& plant = machine_.plant();
  const int f = plant.freedoms();
  filter::Chart chart;
  Eigen::MatrixXd N, D;
  Eigen::VectorXd at = x;
  if (finer_ == 1 || !plant.shift(t_, at.data(), nullptr, nullptr) || !plant.choose(t_, at.data(), chart) ||
      !plant.lift(t_, at.data(), chart, N, D)) {
    return {x};
  }
  std::vector<Eigen::VectorXd> states;
  const int count = static_cast<int>(std::lround(std::pow(finer_, f)));
  for (int i = 0; i < count; ++i) {
    Eigen::VectorXd rate(f), state = at;
    for (int k = 0, rest = i; k < f; ++k, rest /= finer_) {
      rate[k] = std::sqrt(3.0) * rate_sd * ((2 * (rest % finer_) + 1.0) / finer_ - 1);
    }
    const Eigen::VectorXd dv = N * rate;
    if (plant.shift(t_, state.data(), nullptr, dv.data())) states.push_back(std::move(state));
  }
  return states;
}

Result<std::vector<filter::Belief>> EstimateStart::everywhere(int each, double rate_sd) const {
  each *= finer_;
  const std::vector<Configuration> places = branches_->samples(each);
  std::vector<filter::Belief> beliefs;
  for (const Configuration& place : places) {
    // A box of that width has this deviation or less; half of it lets neighbours overlap.
    const Eigen::VectorXd sd = spacing(places, place.branch, each) / 2;
    const Eigen::VectorXd x = machine_.space->state(place.q, Eigen::VectorXd::Zero(machine_.plant().velocities()));
    for (Eigen::VectorXd& state : with_rates(x, rate_sd)) {
      if (auto belief = about(std::move(state), sd, rate_sd / finer_, place.branch))
        beliefs.push_back(*std::move(belief));
    }
  }
  if (beliefs.empty()) return not_assembled(t_);
  return beliefs;
}

Result<std::vector<filter::Particle>> EstimateStart::particles(int count) const {
  filter::MachineSpace& space = *machine_.space;
  filter::Plant& plant = machine_.plant();
  std::vector<filter::Particle> particles;
  Eigen::VectorXd extra = space.extra_sd();
  for (int i = 0; i < extra.size(); ++i) {
    if (const auto given = options_.start_sd.find(space.extra_name(i)); given != options_.start_sd.end()) {
      extra[i] = given->second;
    }
  }
  const auto finish = [&](filter::Particle& particle, Random& random) {
    for (int i = 0; i < extra.size(); ++i) particle.x[plant.stored() + i] = extra[i] * random.normal();
    particles.push_back(std::move(particle));
  };
  if (!unknown_) {
    const auto start = beliefs();
    if (!start) return start.failure();
    const int each = std::max<int>(1, count / static_cast<int>(start->size()));
    for (const filter::Belief& belief : *start) {
      const Eigen::MatrixXd root = Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(belief.P).operatorSqrt();
      for (int i = 0; i < each; ++i) {
        Random random(options_.seed, kStartStream, static_cast<std::uint32_t>(particles.size()));
        Eigen::VectorXd n(space.tangent());
        random.normal(n.data(), static_cast<int>(n.size()));
        const Eigen::VectorXd delta = root * n;
        filter::Particle particle{belief.x, belief.branch, 0};
        if (!space.retract(t_, belief.x.data(), belief.chart, delta.data(), particle.x.data())) particle.x = belief.x;
        particles.push_back(std::move(particle));
      }
    }
    return particles;
  }
  const std::vector<Configuration> places = branches_->samples(std::max(1, count / branches_->count()));
  filter::Chart chart;
  Eigen::MatrixXd N, D;
  Eigen::VectorXd rate(plant.freedoms());
  for (const Configuration& place : places) {
    Random random(options_.seed, kStartStream, static_cast<std::uint32_t>(particles.size()));
    filter::Particle particle{space.state(place.q, Eigen::VectorXd::Zero(plant.velocities())), place.branch, 0};
    double* x = particle.x.data();
    if (!plant.shift(t_, x, nullptr, nullptr) || !plant.choose(t_, x, chart) || !plant.lift(t_, x, chart, N, D))
      continue;
    for (int i = 0; i < rate.size(); ++i) rate[i] = options_.start_speed * random.uniform(-1, 1);
    const Eigen::VectorXd dv = N * rate;
    if (!plant.shift(t_, x, nullptr, dv.data())) continue;
    finish(particle, random);
  }
  if (particles.empty()) return not_assembled(t_);
  return particles;
}

}  // namespace kinegraph::task

#include "experiments/gyroscope_fourbar.hpp"

#include <fmt/format.h>
#include <tbb/parallel_for.h>

#include <cmath>
#include <fstream>
#include <sstream>

#include "bench/clock.hpp"
#include "kinegraph/base/numbers.hpp"
#include "kinegraph/filter/cell_particles.hpp"
#include "kinegraph/filter/natural_plant.hpp"
#include "kinegraph/io/model_file.hpp"
#include "kinegraph/task/compiled_packets.hpp"

namespace kinegraph::experiments {
namespace {

using bench::require, bench::thread_seconds;

int crank_of(filter::Plant& plant) {
  for (int i = 0; i < plant.velocities(); ++i) {
    if (plant.column_name(i) == "theta") return i;
  }
  return 0;
}

task::Branches branches_of(const Model& model) {
  task::BranchOptions options;
  options.coordinate = "theta";
  return require(task::find_branches(model, options), "branches");
}

/// The crank turned by an angle, in steps of a degree, so that the branch is kept.
void turn(filter::Plant& plant, int crank, double by, Eigen::VectorXd& x) {
  const filter::Chart chart{{crank}, {}};
  const int steps = 1 + static_cast<int>(std::abs(by) / kDegree);
  const double delta[2] = {by / steps, 0};
  for (int i = 0; i < steps; ++i) {
    if (!plant.retract(0, x.data(), chart, delta, x.data())) {
      fmt::print(stderr, "the crank cannot turn there\n");
      std::exit(1);
    }
  }
}

}  // namespace

Model fourbar(const std::string& more) {
  std::ifstream file(KINEGRAPH_SOURCE_DIR "/models/fourbar_gyro.yaml");
  std::stringstream text;
  text << file.rdbuf() << more;
  return require(parse_planar_yaml(text.str(), "fourbar_gyro.yaml"), "model");
}

bool compile_particles(const task::Machine& machine) {
  auto& plant = dynamic_cast<filter::NaturalPlant&>(machine.plant());
  const auto code =
      task::CompiledPackets::make(machine.model, plant.system(), plant.packets().program(), machine.independent, {});
  if (code) plant.packets().use(*code);
  return code.ok();
}

Truth fall(const Model& model, int branch, double angle, double time) {
  task::Machine machine = require(task::make_machine(model, {}), "machine");
  filter::Plant& plant = machine.plant();
  const int crank = crank_of(plant), n = plant.positions();
  Eigen::VectorXd x = Eigen::VectorXd::Zero(plant.stored()), next = x;
  x.head(n) = machine.q;
  if (branch != 0) {
    for (const task::Configuration& c : branches_of(model).samples(36)) {
      if (c.branch == branch) x.head(n) = c.q;
    }
  }
  turn(plant, crank, std::remainder(angle - x[crank], 2 * M_PI), x);
  Truth truth;
  const int steps = static_cast<int>(std::lround(time / truth.step));
  for (int k = 0; k <= steps; ++k) {
    const double t = k * truth.step;
    double reading[filter::kMostRows];
    bool ok = machine.space->predict(t, x.data(), 0, reading);
    truth.angle.push_back(x[crank]);
    truth.gyroscope.push_back(reading[0]);
    ok = ok && plant.advance(t, truth.step, x.data(), nullptr, next.data());
    if (!ok) fmt::print(stderr, "the truth stops at {} s\n", t), std::exit(1);
    x.swap(next);
  }
  return truth;
}

Tracker::Tracker(const Model& assumed, const TrackSettings& settings) : settings_(settings) {
  task::MachineSettings machine;
  machine.process = {{"theta", settings.density}};
  machine.integrator = settings.integrator;
  machine_ = require(task::make_machine(assumed, machine), "machine");
  compiled_ = settings.compiled && compile_particles(machine_);
  crank_ = crank_of(machine_.plant());
  const task::Branches branches = branches_of(assumed);
  count_ = branches.count();
  positions_.resize(count_);
  for (const task::Configuration& c : branches.samples(360)) positions_[c.branch].push_back(c.q);
}

std::unique_ptr<filter::Estimator> Tracker::as_points(const filter::StateSpace& space,
                                                      const std::vector<filter::Particle>& start,
                                                      const filter::ParticleOptions& options) const {
  return require(filter::ParticleFilter::create(space, 0, start, count_, options), "particles");
}

/// As many cells as particles, up to a number; each as wide as half the way to the next, so that their sum is
/// even.
std::unique_ptr<filter::Estimator> Tracker::in_cells(const filter::StateSpace& space,
                                                     const std::vector<filter::Particle>& start,
                                                     const filter::ParticleOptions& options) const {
  std::vector<filter::Belief> cells;
  const int each = settings_.particles / count_, every = (each + settings_.cells - 1) / settings_.cells;
  const double sd = M_PI * every / each;
  for (int i = 0; i < static_cast<int>(start.size()); i += every) {
    filter::Belief cell{0, start[i].x, {{crank_}, {}}, Eigen::MatrixXd::Zero(2, 2), start[i].branch};
    cell.P(0, 0) = sd * sd;
    cells.push_back(std::move(cell));
  }
  return require(filter::CellParticles::create(space, cells, settings_.particles, count_, options), "particles");
}

Track Tracker::run(const Truth& truth, std::uint64_t seed) const {
  Random random(seed, 1);
  const std::unique_ptr<filter::StateSpace> space = machine_.space->clone();
  auto& own = static_cast<filter::MachineSpace&>(*space);
  const int n = own.plant().positions(), each = settings_.particles / count_;
  std::vector<filter::Particle> start;
  const double offset = random.uniform();
  for (int i = 0; i < settings_.particles; ++i) {
    const int branch = settings_.stratified ? i / each % count_ : random.below(count_);
    const double angle = 2 * M_PI * (settings_.stratified ? (i % each + offset) / each : random.uniform());
    // The nearest of the evenly spread positions, turned the rest of the way.
    filter::Particle particle{Eigen::VectorXd::Zero(own.stored()), branch, 0};
    double least = 10;
    for (const Eigen::VectorXd& q : positions_[branch]) {
      const double off = std::abs(std::remainder(q[crank_] - angle, 2 * M_PI));
      if (off < least) least = off, particle.x.head(n) = q;
    }
    turn(own.plant(), crank_, std::remainder(angle - particle.x[crank_], 2 * M_PI), particle.x);
    start.push_back(std::move(particle));
  }
  filter::ParticleOptions options;
  options.step = settings_.step;
  options.proposal = settings_.proposal;
  options.stratified = settings_.keep_branches;
  options.resample = settings_.resample;
  options.noise_factor = settings_.assumed_noise / settings_.noise;
  options.seed = seed;
  if (!settings_.kernels) options.kernel = options.recover = 0;
  const auto filter = settings_.cells > 0 ? in_cells(*space, start, options) : as_points(*space, start, options);

  Track track;
  const int every = static_cast<int>(std::lround(settings_.period / truth.step));
  const double begun = thread_seconds();
  for (int k = every; k < static_cast<int>(truth.angle.size()); k += every) {
    filter::Measurement reading{k * truth.step, 0, {truth.gyroscope[k] + settings_.noise * kDegree * random.normal()}};
    require(filter->push(reading), "reading");
    const filter::Belief& belief = filter->belief();
    track.t.push_back(reading.t);
    track.reading.push_back(reading.y[0] / kDegree);
    track.error.push_back(std::remainder(belief.x[crank_] - truth.angle[k], 2 * M_PI) / kDegree);
    track.sd.push_back(belief.chart.columns == std::vector{crank_} ? std::sqrt(belief.P(0, 0)) / kDegree : NAN);
    track.branch.push_back(filter->branches());
  }
  track.cpu_s = thread_seconds() - begun;
  if (const auto* points = dynamic_cast<const filter::ParticleFilter*>(filter.get()))
    track.stages = points->stage_times();
  return track;
}

Score score(const Track& track, int branch) {
  Score score;
  double last = 0, all = 0;
  int last_count = 0, all_count = 0;
  const double end = track.t.back();
  for (std::size_t i = 0; i < track.t.size(); ++i) {
    const double t = track.t[i], e = track.error[i];
    if (!(std::abs(e) < 3)) score.within_3 = t;
    if (!(track.branch[i][branch] > 0.99)) score.branch_time = t;
    if (t > end - 2) last += e * e, ++last_count;
    if (t > 1) all += e * e, ++all_count;
  }
  score.converged = score.within_3 < 1;
  score.right_branch = track.branch.back()[branch] > 0.5;
  score.rmse_last = std::sqrt(last / last_count);
  score.rmse = std::sqrt(all / std::max(1, all_count));
  return score;
}

std::vector<Score> scores(const Tracker& tracker, const Truth& truth, int branch, int n) {
  std::vector<Score> result(n);
  tbb::parallel_for(0, n, [&](int seed) { result[seed] = score(tracker.run(truth, seed), branch); });
  return result;
}

}  // namespace kinegraph::experiments

// Code made for one planar machine against the kernels that serve any: steps, kicks and sensors.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <memory>

#include "kinegraph/base/random.hpp"
#include "kinegraph/filter/natural_plant.hpp"
#include "kinegraph/filter/particle_filter.hpp"
#include "kinegraph/io/model_file.hpp"
#include "kinegraph/task/branches.hpp"
#include "kinegraph/task/compiled_packets.hpp"
#include "kinegraph/task/machine.hpp"
#include "test/shared.hpp"

namespace kinegraph::task::compiled_particles_test {
namespace {

constexpr int kStates = 203;  // no multiple of eight
constexpr double kStep = 5e-3;
constexpr int kParticles = 400;

class PacketsByCode : public testing::TestWithParam<const char*> {
 protected:
  // one cache for all: what one test compiles the next one finds
  static std::filesystem::path folder() {
    return std::filesystem::temp_directory_path() / ("kinegraph_packets_test_" + std::to_string(getpid()));
  }
  static void SetUpTestSuite() {
    std::filesystem::create_directories(folder());
    setenv("XDG_CACHE_HOME", folder().c_str(), 1);
  }
  static void TearDownTestSuite() {
    unsetenv("XDG_CACHE_HOME");
    std::filesystem::remove_all(folder());
  }
  void SetUp() override {
    const auto model = read_model(source_file(GetParam()));
    ASSERT_TRUE(model) << model.failure().to_string();
    MachineSettings settings;
    auto made = make_machine(*model, settings);
    ASSERT_TRUE(made) << made.failure().to_string();
    machine_ = std::make_unique<Machine>(*std::move(made));
    auto& plant = dynamic_cast<filter::NaturalPlant&>(machine_->plant());
    const auto code =
        CompiledPackets::make(machine_->model, plant.system(), plant.packets().program(), machine_->independent, {});
    if (!code && code.failure().to_string().find("no C++ compiler") != std::string::npos) GTEST_SKIP();
    ASSERT_TRUE(code) << code.failure().to_string();
    numeric_.reset(dynamic_cast<filter::MachineSpace*>(machine_->space->clone().release()));
    plant.packets().use(*code);
    make_states();
  }
  /// Along the machine's motion, kicked at random.
  void make_states() {
    const int size = numeric_->stored();
    Eigen::VectorXd x = numeric_->state(machine_->q, machine_->v), next = x;
    Random random(3);
    std::vector<double> normal(numeric_->noises());
    for (int k = 0; k < kStates; ++k) {
      for (double& n : normal) n = 20 * random.normal();
      ASSERT_TRUE(numeric_->advance(0, kStep, x.data(), next.data()));
      x = next;
      if (numeric_->disturb(0, kStep, next.data(), normal.data())) x = next;
      states_.insert(states_.end(), x.data(), x.data() + size);
    }
    ASSERT_EQ(states_.size(), static_cast<std::size_t>(kStates) * size);
  }
  /// Particles about the machine's start.
  std::vector<filter::Particle> cloud(Random& random) const {
    const Eigen::VectorXd x = numeric_->state(machine_->q, machine_->v);
    std::vector<filter::Particle> start;
    std::vector<double> normal(numeric_->noises());
    while (start.size() < kParticles) {
      for (double& n : normal) n = 20 * random.normal();
      Eigen::VectorXd next = x;
      if (numeric_->disturb(0, kStep, next.data(), normal.data())) start.push_back({next, 0, 0});
    }
    return start;
  }
  /// What they say after some readings of its first sensor: evidence, weights, states.
  std::vector<double> filtered(const filter::StateSpace& space, const filter::ParticleOptions& options) const {
    constexpr int kReadings = 12;
    Random random(7);
    const std::vector<filter::Particle> start = cloud(random);
    Eigen::VectorXd x = numeric_->state(machine_->q, machine_->v), next = x;
    auto filter = filter::ParticleFilter::create(space, 0, start, 1, options);
    EXPECT_TRUE(filter);
    double told = 0;
    (*filter)->on_innovation = [&](const filter::Innovation& i) { told += i.nis; };
    for (int k = 1; k <= kReadings; ++k) {
      EXPECT_TRUE(numeric_->advance((k - 1) * kStep, kStep, x.data(), next.data()));
      x = next;
      if (k % 3 == 0) {
        EXPECT_TRUE((*filter)->advance((k - 0.5) * kStep));
      }
      filter::Measurement m{k * kStep, 0, {}};
      EXPECT_TRUE(numeric_->predict(m.t, x.data(), 0, m.y.data()));
      m.y[0] += 0.005 * random.normal();
      EXPECT_TRUE((*filter)->push(m));
    }
    std::vector<double> all = {told, (*filter)->log_evidence()};
    (*filter)->visit([&](const double* state, double weight, int) {
      all.push_back(kParticles * weight);
      all.insert(all.end(), state, state + numeric_->stored());
    });
    return all;
  }
  static double distance(const std::vector<double>& a, const std::vector<double>& b) {
    double worst = 0;
    for (std::size_t i = 0; i < a.size(); ++i) worst = std::max(worst, std::abs(a[i] - b[i]));
    return worst;
  }
  static double size(const std::vector<double>& a) { return distance(a, std::vector<double>(a.size(), 0.0)); }

  std::unique_ptr<Machine> machine_;
  std::unique_ptr<filter::MachineSpace> numeric_;
  std::vector<double> states_;
};

TEST_P(PacketsByCode, StepsAreTheSame) {
  std::vector<double> by_code(states_.size()), numeric(states_.size());
  bool good[kStates], expected[kStates];
  machine_->space->advance_many(0.1, kStep, kStates, states_.data(), by_code.data(), good);
  numeric_->advance_many(0.1, kStep, kStates, states_.data(), numeric.data(), expected);
  for (int i = 0; i < kStates; ++i) EXPECT_EQ(good[i], expected[i]) << i;
  // The code goes onto the constraints along normals of the end, the kernels along those of the last stage: far less
  // than the error of the step.
  std::vector<double> half(states_.size()), whole(states_.size());
  numeric_->advance_many(0.1, kStep / 2, kStates, states_.data(), half.data(), expected);
  numeric_->advance_many(0.1 + kStep / 2, kStep / 2, kStates, half.data(), whole.data(), expected);
  const double error = distance(numeric, whole);
  EXPECT_LT(error, 1e-4 * size(numeric));
  EXPECT_LT(distance(by_code, numeric), 0.1 * error);
}

TEST_P(PacketsByCode, KicksAreTheSame) {
  std::vector<double> by_code = states_, numeric = states_,
                      normal(static_cast<std::size_t>(kStates) * numeric_->noises());
  bool good[kStates], expected[kStates];
  Random random(5);
  for (double& n : normal) n = random.normal();
  machine_->space->disturb_many(0.1, kStep, kStates, by_code.data(), normal.data(), good);
  numeric_->disturb_many(0.1, kStep, kStates, numeric.data(), normal.data(), expected);
  for (int i = 0; i < kStates; ++i) EXPECT_EQ(good[i], expected[i]) << i;
  EXPECT_LT(distance(by_code, numeric), 1e-4 * distance(numeric, states_));  // normals before and after the kick
}

TEST_P(PacketsByCode, SensorsAreTheSame) {
  using Eigen::MatrixXd;
  for (int s = 0; s < static_cast<int>(numeric_->sensors().size()); ++s) {
    std::vector<double> y(kStates * filter::kMostRows, 0.0), expected_y = y, slopes, expected_slopes;
    const auto rows = static_cast<Eigen::Index>(numeric_->sensors()[s].channels.size());
    std::vector<MatrixXd> B(kStates, MatrixXd::Zero(rows, numeric_->noises())), expected_B = B;
    bool good[kStates], expected[kStates];
    machine_->space->response_many(0.1, kStep, kStates, states_.data(), s, y.data(), B.data(), good);
    numeric_->response_many(0.1, kStep, kStates, states_.data(), s, expected_y.data(), expected_B.data(), expected);
    for (int i = 0; i < kStates; ++i) {
      EXPECT_EQ(good[i], expected[i]) << i;
      slopes.insert(slopes.end(), B[i].data(), B[i].data() + B[i].size());
      expected_slopes.insert(expected_slopes.end(), expected_B[i].data(), expected_B[i].data() + expected_B[i].size());
    }
    EXPECT_LT(distance(y, expected_y), 1e-11 * size(expected_y));
    EXPECT_LT(distance(slopes, expected_slopes), 1e-10 * size(expected_slopes));
  }
}

// Eight particles side by side, from the motion to the weight, against one at a time without code.
TEST_P(PacketsByCode, FiltersAreTheSame) {
  ASSERT_NE(machine_->space->lanes(), nullptr);
  ASSERT_EQ(numeric_->lanes(), nullptr);
  filter::ParticleOptions options;
  options.step = kStep;
  options.resample = options.kernel = 0;  // a draw that falls the other way by rounding would show
  for (const auto proposal : {filter::Proposal::optimal, filter::Proposal::prior}) {
    options.proposal = proposal;
    const std::vector<double> by_code = filtered(*machine_->space, options), numeric = filtered(*numeric_, options);
    ASSERT_EQ(by_code.size(), numeric.size());
    EXPECT_LT(distance(by_code, numeric), 1e-5 * size(numeric));
  }
}

// Readings of the same time, at once or one after the other: the same particles, and each reading is told.
TEST_P(PacketsByCode, ReadingsOfOneTimeAreTakenTogether) {
  ASSERT_GE(numeric_->sensors().size(), 2U);
  filter::ParticleOptions options;
  options.step = kStep;
  options.resample = options.kernel = 0;  // one by one, some would be drawn anew between the readings
  std::vector<double> seen[2], told[2];
  for (const bool together : {false, true}) {
    Random random(7);
    auto filter = filter::ParticleFilter::create(*machine_->space, 0, cloud(random), 1, options);
    ASSERT_TRUE(filter);
    (*filter)->on_innovation = [&](const filter::Innovation& i) {
      told[together].insert(told[together].end(), {i.t, double(i.sensor), i.e[0], i.sd[0], i.nis});
    };
    Eigen::VectorXd x = numeric_->state(machine_->q, machine_->v), next = x;
    for (int k = 1; k <= 6; ++k) {
      ASSERT_TRUE(numeric_->advance((k - 1) * kStep, kStep, x.data(), next.data()));
      x = next;
      std::vector<filter::Measurement> readings;
      for (const int sensor : {0, 1}) {
        filter::Measurement m{k * kStep, sensor, {}};
        ASSERT_TRUE(numeric_->predict(m.t, x.data(), sensor, m.y.data()));
        m.y[0] += 0.005 * random.normal();
        readings.push_back(m);
      }
      if (together) {
        ASSERT_TRUE((*filter)->push_together(readings));
      } else {
        for (const filter::Measurement& m : readings) ASSERT_TRUE((*filter)->push(m));
      }
    }
    seen[together].push_back((*filter)->log_evidence());
    (*filter)->visit([&](const double* state, double weight, int) {
      seen[together].push_back(kParticles * weight);
      seen[together].insert(seen[together].end(), state, state + numeric_->stored());
    });
  }
  ASSERT_EQ(seen[0].size(), seen[1].size());
  EXPECT_LT(distance(seen[0], seen[1]), 1e-12 * size(seen[0]));
  ASSERT_EQ(told[0].size(), 5U * 2 * 6);
  ASSERT_EQ(told[1].size(), told[0].size());
  EXPECT_LT(distance(told[0], told[1]), 1e-9 * size(told[0]));
}

TEST_P(PacketsByCode, SameBitsForAnyNumberOfThreads) {
  filter::ParticleOptions options;
  options.step = kStep;
  const std::vector<double> one = filtered(*machine_->space, options);
  for (const int threads : {2, 4}) {
    options.threads = threads;
    EXPECT_EQ(filtered(*machine_->space, options), one) << threads;
  }
}

INSTANTIATE_TEST_SUITE_P(Models, PacketsByCode, testing::Values("models/fourbar_gyro.yaml"));

}  // namespace
}  // namespace kinegraph::task::compiled_particles_test

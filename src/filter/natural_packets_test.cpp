#include "kinegraph/filter/natural_packets.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <string>

#include "kinegraph/filter/natural_machines_test.hpp"
#include "kinegraph/linear/allocations_test.hpp"

namespace kinegraph::filter::natural_packets_test {
namespace {

using planar::machines;
using planar::Made;
using planar::make;
using planar::open;

constexpr double kStep = 2e-3;

/// Different states of one machine, one after the other, with unknown forces behind each.
struct States {
  Made made;
  int count, size, stride;
  std::vector<double> x;
  const double* force() const { return x.data() + size; }
  double* at(int i) { return x.data() + static_cast<std::ptrdiff_t>(i) * stride; }
};

States different(planar::Machine machine, const char* integrator, int count) {
  States s{make(machine, ChartKind::independent, integrator), count, 0, 0, {}};
  NaturalPlant& plant = *s.made.plant;
  s.size = plant.stored();
  s.stride = s.size + plant.forces() + 1;
  s.x.assign(static_cast<std::size_t>(count) * s.stride, 0.25);
  const int n = plant.velocities();
  std::vector<double> dq(n), dv(n);
  for (int i = 0; i < count; ++i) {
    std::copy(s.made.x.begin(), s.made.x.end(), s.at(i));
    for (int k = 0; k < n; ++k) dq[k] = 0.02 * std::sin(i + 2.0 * k), dv[k] = 0.5 * std::cos(3.0 * i + k);
    EXPECT_TRUE(plant.shift(0, s.at(i), dq.data(), dv.data()));
    for (int k = 0; k < plant.forces(); ++k) s.at(i)[s.size + k] = 0.3 * k - 0.1 * i;
  }
  return s;
}

double apart(const double* a, const double* b, int n) {
  double most = 0;
  for (int i = 0; i < n; ++i) {
    const double off = std::abs(a[i] - b[i]) / (1 + std::abs(b[i]));
    most = off <= most ? most : off;
  }
  return most;
}

// Steps and kicks by turns, each compared with what the plant alone does from the same state.
TEST(NaturalPackets, AgreeWithOneStateAtATime) {
  constexpr int kCount = 11, kSteps = 150;  // a packet that is not full comes last
  for (const auto& machine : machines()) {
    for (const char* integrator : {"rk4", "heun"}) {
      States s = different(machine.make, integrator, kCount);
      NaturalPlant& plant = *s.made.plant;
      const int noises = plant.noises();
      std::vector<double> next = s.x, alone(s.size), kicks(static_cast<std::size_t>(kCount) * noises * 2);
      bool good[kCount];
      double most = 0, farthest = 0;
      int regular = 0;
      for (int k = 0; k < kSteps; ++k) {
        const double t = k * kStep;
        plant.packets().step(t, kStep, kCount, s.stride, s.x.data(), s.force(), next.data(), good);
        for (int i = 0; i < kCount; ++i) regular += good[i];
        plant.advance_many(t, kStep, kCount, s.stride, s.x.data(), s.force(), next.data(), good);
        for (int i = 0; i < kCount; ++i) {
          ASSERT_TRUE(good[i] && plant.advance(t, kStep, s.at(i), s.at(i) + s.size, alone.data())) << machine.name;
          most = std::max(most, apart(&next[i * s.stride], alone.data(), s.size));
        }
        s.x = next;
        if (k % 5 != 4) continue;
        for (std::size_t j = 0; j < kicks.size(); ++j) kicks[j] = (j % 2 == 0 ? 0.03 : 1e-4) * std::sin(j + 7.0 * k);
        plant.kick_many(t + kStep, kCount, s.stride, next.data(), kicks.data(), good);
        for (int i = 0; i < kCount; ++i) {
          plant.Plant::kick_many(t + kStep, 1, s.stride, s.at(i), &kicks[i * noises * 2], good + i);
          ASSERT_TRUE(good[i]) << machine.name;
          most = std::max(most, apart(&next[i * s.stride], s.at(i), s.size));
        }
        s.x = next;
        for (int i = 0; i < kCount; ++i) farthest = std::max(farthest, open(plant.system(), t + kStep, s.at(i)));
      }
      EXPECT_LT(most, 1e-12) << machine.name << " " << integrator;
      EXPECT_LT(farthest, 1e-12) << machine.name << " " << integrator;
      EXPECT_GT(regular, 0.99 * kCount * kSteps) << machine.name << " " << integrator;
    }
  }
}

TEST(NaturalPackets, DirectionsOfTheNoise) {
  constexpr int kCount = 9;
  for (const auto& machine : machines()) {
    States s = different(machine.make, "rk4", kCount);
    NaturalPlant& plant = *s.made.plant;
    const int size = plant.velocities() * plant.noises();
    std::vector<double> directions(static_cast<std::size_t>(kCount) * size);
    bool good[kCount];
    plant.noise_directions_many(0, kCount, s.stride, s.x.data(), directions.data(), good);
    for (int i = 0; i < kCount; ++i) {
      Eigen::MatrixXd alone;
      ASSERT_TRUE(good[i] && plant.noise_directions(0, s.at(i), alone)) << machine.name;
      EXPECT_LT(apart(&directions[static_cast<std::size_t>(i) * size], alone.data(), size), 1e-11) << machine.name;
    }
  }
}

// The same bits in any company, in any lane, and on any processor.
TEST(NaturalPackets, AStateGivesTheSameBitsInAnyCompany) {
  constexpr int kCount = 19;
  for (const auto& machine : machines()) {
    States s = different(machine.make, "rk4", kCount);
    NaturalPlant& plant = *s.made.plant;
    NaturalPackets& packets = plant.packets();
    std::vector<double> together = s.x, other = s.x;
    const std::vector<double> kicks(static_cast<std::size_t>(kCount) * plant.noises() * 2, 0.01);
    bool good[kCount];
    const auto run = [&](int count, const double* x, double* next) {
      packets.step(0, kStep, count, s.stride, x, x + s.size, next, good);
      packets.kick(kStep, count, s.stride, next, kicks.data(), good);
    };
    run(kCount, s.x.data(), together.data());
    for (int i = 0; i < kCount; ++i) {
      run(1, s.at(i), &other[static_cast<std::size_t>(i) * s.stride]);
      EXPECT_TRUE(good[0]) << machine.name;
    }
    EXPECT_EQ(together, other) << machine.name;
    std::vector<const PacketKernel*> kernels = {&kPacketKernel};
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) kernels.push_back(&kPacketKernelAvx2);
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq")) {
      kernels.push_back(&kPacketKernelAvx512);
    }
#endif
    for (const PacketKernel* kernel : kernels) {
      packets.use(*kernel);
      other = s.x;
      run(kCount, s.x.data(), other.data());
      EXPECT_EQ(together, other) << machine.name << " kernel " << (kernel == kernels[0]);
    }
  }
}

// What is not regular is left to the plant, which knows what to do with it; its neighbours do not notice.
TEST(NaturalPackets, IrregularStatesAreLeftAlone) {
  constexpr int kCount = 8;
  States s = different(planar::slider_crank, "rk4", kCount);
  NaturalPlant& plant = *s.made.plant;
  std::vector<double> clean = s.x, next = s.x;
  bool good[kCount];
  plant.packets().step(0, kStep, kCount, s.stride, s.x.data(), s.force(), clean.data(), good);
  s.at(1)[0] = std::numeric_limits<double>::quiet_NaN();
  s.at(3)[s.size / 2] = std::numeric_limits<double>::infinity();
  s.at(4)[4] += 2e6 * M_PI;  // sines are not good there
  s.at(6)[0] += 0.3;         // far from its constraints
  plant.packets().step(0, kStep, kCount, s.stride, s.x.data(), s.force(), next.data(), good);
  for (int i : {1, 3, 4, 6}) EXPECT_FALSE(good[i]) << i;
  for (int i : {0, 2, 5, 7}) {
    EXPECT_TRUE(good[i]) << i;
    EXPECT_EQ(std::memcmp(&next[i * s.stride], &clean[i * s.stride], sizeof(double) * s.size), 0) << i;
  }
  plant.advance_many(0, kStep, kCount, s.stride, s.x.data(), s.force(), next.data(), good);
  std::vector<double> alone(s.size);
  for (int i = 0; i < kCount; ++i) {
    EXPECT_EQ(good[i], plant.advance(0, kStep, s.at(i), s.at(i) + s.size, alone.data())) << i;
    EXPECT_EQ(good[i], i != 1 && i != 3 && i != 4) << i;
    if (!good[i]) continue;
    EXPECT_LT(apart(&next[i * s.stride], alone.data(), s.size), 1e-12) << i;
  }
}

// Sines after many turns, both ways.
TEST(NaturalPackets, ManyTurns) {
  constexpr int kCount = 16;
  States s = different(planar::four_bar, "rk4", kCount);
  NaturalPlant& plant = *s.made.plant;
  const int angle = s.size / 2 - 1;
  for (int i = 0; i < kCount; ++i) s.at(i)[angle] += 2 * M_PI * (i - 8) * 25;
  std::vector<double> next = s.x, alone(s.size);
  bool good[kCount];
  plant.packets().step(0, kStep, kCount, s.stride, s.x.data(), s.force(), next.data(), good);
  for (int i = 0; i < kCount; ++i) {
    EXPECT_EQ(good[i], plant.advance(0, kStep, s.at(i), s.at(i) + s.size, alone.data())) << i;
    EXPECT_LT(apart(&next[i * s.stride], alone.data(), s.size), 1e-11) << i;
  }
}

TEST(NaturalPackets, NothingAllocates) {
  if (!linear::test::allocations_are_counted()) GTEST_SKIP() << "the address sanitizer owns malloc";
  constexpr int kCount = 8;
  States s = different(planar::four_bar, "rk4", kCount);
  NaturalPlant& plant = *s.made.plant;
  std::vector<double> next = s.x, kicks(static_cast<std::size_t>(kCount) * plant.noises() * 2, 0.01);
  bool good[kCount];
  const auto run = [&] {
    plant.advance_many(0, kStep, kCount, s.stride, s.x.data(), s.force(), next.data(), good);
    plant.kick_many(kStep, kCount, s.stride, next.data(), kicks.data(), good);
  };
  run();
  const long before = linear::test::allocations();
  run();
  EXPECT_EQ(linear::test::allocations(), before);
}

}  // namespace
}  // namespace kinegraph::filter::natural_packets_test

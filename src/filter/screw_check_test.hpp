#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <random>

#include "kinegraph/filter/screw_plant.hpp"
#include "kinegraph/mechanics/screw/kinematics.hpp"

// What must hold of every ScrewPlant, at any state on its constraints.

namespace kinegraph::filter::test {

inline Eigen::MatrixXd random_matrix(int rows, int columns, unsigned seed) {
  std::mt19937 generator(seed);
  return Eigen::MatrixXd::NullaryExpr(rows, columns,
                                      [&] { return std::uniform_real_distribution<double>(-1, 1)(generator); });
}

/// The largest opening of the loops, and of the velocities.
inline double opening(const screw::Tree& tree, const Eigen::VectorXd& x) {
  if (tree.loops().empty()) return 0;
  screw::Poses poses(tree.bodies().size());
  screw::body_poses(tree, x.data(), poses);
  Eigen::VectorXd residual(6 * tree.loops().size());
  Eigen::MatrixXd J;
  screw::closure(tree, x.data(), poses, residual.data());
  screw::closure_jacobian(tree, x.data(), poses, J);
  return std::max(residual.lpNorm<Eigen::Infinity>(), (J * x.tail(tree.freedoms())).lpNorm<Eigen::Infinity>());
}

/// A state on the constraints: moved at random from a position with closed loops.
inline Eigen::VectorXd random_state(ScrewPlant& plant, const Eigen::VectorXd& q, unsigned seed, double far = 0.3) {
  Eigen::VectorXd x = Eigen::VectorXd::Zero(plant.stored());
  x.head(q.size()) = q;
  Chart chart;
  EXPECT_TRUE(plant.shift(0, x.data(), nullptr, nullptr));
  EXPECT_TRUE(plant.choose(0, x.data(), chart));
  Eigen::VectorXd delta = random_matrix(plant.tangent(), 1, seed);
  delta.head(plant.freedoms()) *= far;
  EXPECT_TRUE(plant.retract(0, x.data(), chart, delta.data(), x.data()));
  return x;
}

class PlantCheck {
 public:
  PlantCheck(ScrewPlant& plant, const Eigen::VectorXd& x, double h = 0.01) : plant_(plant), x_(x), h_(h) {
    force_ = 0.7 * random_matrix(plant.forces(), 1, 5);
    EXPECT_TRUE(plant_.choose(0, x_.data(), chart_));
  }
  double closed = 1e-10, close = 2e-8;

  void all() {
    charts();
    steps();
    instants();
    noises();
  }

  void charts() {
    const int f = plant_.freedoms();
    Eigen::MatrixXd N, D, CN, CD;
    ASSERT_TRUE(plant_.lift(0, x_.data(), chart_, N, D));
    count_in(chart_, N, CN);
    count_in(chart_, D, CD);
    EXPECT_LT((CN - Eigen::MatrixXd::Identity(f, f)).norm(), 1e-10);
    EXPECT_LT(CD.norm(), 1e-9 * (1 + D.norm()));
    const Eigen::VectorXd delta = 0.1 / (1 + N.cwiseAbs().maxCoeff()) * random_matrix(2 * f, 1, 9);
    Eigen::VectorXd other(x_.size()), back(2 * f);
    ASSERT_TRUE(plant_.retract(0, x_.data(), chart_, delta.data(), other.data()));
    plant_.local(x_.data(), chart_, other.data(), back.data());
    EXPECT_LT((back - delta).norm(), 1e-10);
    EXPECT_LT(opening(plant_.tree(), other), closed);

    const double e = 1e-5;
    for (int i = 0; i < 2 * f; ++i) {
      const Eigen::VectorXd change = tangent_of(x_, moved(i, e), moved(i, -e)) / (2 * e);
      Eigen::VectorXd expected = Eigen::VectorXd::Zero(2 * plant_.velocities());
      if (i < f) expected.head(N.rows()) = N.col(i);
      expected.tail(N.rows()) = i < f ? D.col(i) : N.col(i - f);
      EXPECT_LT((change - expected).norm(), close * (1 + expected.norm())) << "lift " << i;
    }
    Chart kept = chart_;
    ASSERT_TRUE(plant_.choose(0, other.data(), kept));
    EXPECT_TRUE(kept == chart_);
  }

  void steps() {
    const int f = plant_.freedoms();
    Eigen::VectorXd plain(x_.size()), next(x_.size()), delta(2 * f);
    Eigen::MatrixXd F, B;
    Chart next_chart = chart_;
    ASSERT_TRUE(plant_.advance(0.1, h_, x_.data(), force_.data(), plain.data()));
    ASSERT_TRUE(plant_.advance(0.1, h_, x_.data(), force_.data(), chart_, next.data(), next_chart, F, B));
    EXPECT_EQ(plain, next);
    EXPECT_LT(opening(plant_.tree(), next), closed);
    const auto twin = plant_.clone();
    ASSERT_TRUE(twin->advance(0.1, h_, x_.data(), force_.data(), next.data()));
    EXPECT_EQ(plain, next) << "clone";

    const double e = 1e-5;
    const auto after = [&](const Eigen::VectorXd& x, const Eigen::VectorXd& force) {
      Eigen::VectorXd out(x.size());
      EXPECT_TRUE(plant_.advance(0.1, h_, x.data(), force.data(), out.data()));
      plant_.local(next.data(), next_chart, out.data(), delta.data());
      return delta;
    };
    for (int i = 0; i < 2 * f; ++i) {
      const Eigen::VectorXd one = after(moved(i, e), force_), other = after(moved(i, -e), force_);
      const Eigen::VectorXd column = (one - other) / (2 * e);
      EXPECT_LT((column - F.col(i)).norm(), close * (1 + F.norm())) << "by state " << i;
    }
    ASSERT_EQ(B.cols(), plant_.forces());
    for (int i = 0; i < plant_.forces(); ++i) {
      Eigen::VectorXd more = force_, less = force_;
      more[i] += 1e-3;
      less[i] -= 1e-3;
      const Eigen::VectorXd one = after(x_, more), other = after(x_, less);
      EXPECT_LT(((one - other) / 2e-3 - B.col(i)).norm(), close * (B.norm() + h_)) << "by force " << i;
    }
  }

  void instants() {
    const int f = plant_.freedoms(), k = 2 * f;
    Eigen::MatrixXd N, D, dq(plant_.velocities(), k), dv(dq);
    ASSERT_TRUE(plant_.lift(0, x_.data(), chart_, N, D));
    dq << N, Eigen::MatrixXd::Zero(N.rows(), f);
    dv << D, N;
    sensor::Instant at, one, other;
    ASSERT_TRUE(plant_.instant(0.1, x_.data(), force_.data(), true, &dq, &dv, at));
    ASSERT_EQ(at.directions(), k + plant_.forces());
    const double e = 1e-5;
    for (int i = 0; i < k + plant_.forces(); ++i) {
      Eigen::VectorXd more = force_, less = force_, ahead = x_, behind = x_;
      if (i < k) {
        ahead = moved(i, e);
        behind = moved(i, -e);
      } else {
        more[i - k] += e;
        less[i - k] -= e;
      }
      ASSERT_TRUE(plant_.instant(0.1, ahead.data(), more.data(), true, nullptr, nullptr, one));
      ASSERT_TRUE(plant_.instant(0.1, behind.data(), less.data(), true, nullptr, nullptr, other));
      const auto agree = [&](const Eigen::VectorXd& a, const Eigen::VectorXd& b, const Eigen::MatrixXd& derivative,
                             const char* what) {
        const Eigen::VectorXd difference = (a - b) / (2 * e);
        EXPECT_LT((difference - derivative.col(i)).norm(), 10 * close * (1 + derivative.norm() + a.norm()))
            << what << " " << i;
      };
      agree(one.a, other.a, at.da, "a");
      agree(one.tau, other.tau, at.dtau, "tau");
      agree(one.reaction, other.reaction, at.dreaction, "reaction");
    }
  }

  void noises() {
    Eigen::MatrixXd d, J;
    ASSERT_TRUE(plant_.noise_directions(0, x_.data(), d));
    screw::Poses poses(plant_.tree().bodies().size());
    screw::body_poses(plant_.tree(), x_.data(), poses);
    screw::closure_jacobian(plant_.tree(), x_.data(), poses, J);
    EXPECT_LT((J * d).norm(), 1e-10 * (1 + d.norm()));
    // a force at the column of a noise moves v along its direction
    for (int i = 0; i < plant_.noises(); ++i) {
      const PlantNoise& noise = plant_.options().noises[i];
      const bool of_force = noise.kind == Disturbance::Kind::force;
      EXPECT_TRUE(of_force || std::abs(d(noise.column, i) - 1) < 1e-12);
      for (int k = 0; k < plant_.forces(); ++k) {
        if (plant_.options().forces[k] != noise.column) continue;
        Eigen::VectorXd more = force_;
        more[k] += 1;
        sensor::Instant one, other;
        ASSERT_TRUE(plant_.instant(0, x_.data(), more.data(), true, nullptr, nullptr, one));
        ASSERT_TRUE(plant_.instant(0, x_.data(), force_.data(), true, nullptr, nullptr, other));
        const Eigen::VectorXd answer = one.a - other.a;
        const double scale = of_force ? 1 : answer[noise.column];
        EXPECT_LT((answer / scale - d.col(i)).norm(), 1e-8 * (1 + d.col(i).norm()));
      }
    }
  }

 private:
  Eigen::VectorXd moved(int i, double by) {
    Eigen::VectorXd delta = Eigen::VectorXd::Zero(plant_.tangent()), out(x_.size());
    delta[i] = by;
    EXPECT_TRUE(plant_.retract(0, x_.data(), chart_, delta.data(), out.data()));
    return out;
  }
  /// From one state to another, in (q, v) as seen from x.
  Eigen::VectorXd tangent_of(const Eigen::VectorXd& x, const Eigen::VectorXd& to, const Eigen::VectorXd& from) const {
    const int n = plant_.velocities();
    Eigen::VectorXd a(n), b(n), all(2 * n);
    plant_.tree().local(x.data(), to.data(), a.data());
    plant_.tree().local(x.data(), from.data(), b.data());
    all << a - b, to.tail(n) - from.tail(n);
    return all;
  }

  ScrewPlant& plant_;
  Eigen::VectorXd x_, force_;
  double h_;
  Chart chart_;
};

}  // namespace kinegraph::filter::test

// Our answers beside those of Siconos (Debian: libsiconos-numerics-dev), where it is installed.
#include <gtest/gtest.h>

#ifdef KINEGRAPH_SICONOS

#include <LCP_Solvers.h>
#include <LinearComplementarityProblem.h>
#include <NumericsMatrix.h>
#include <SolverOptions.h>
#include <lcp_cst.h>

#include "kinegraph/linear/lcp.hpp"
#include "kinegraph/linear/lcp_problems_test.hpp"

namespace kinegraph::linear::lcp_siconos_test {
namespace {

using Eigen::VectorXd;
using test::Problem;

/// Siconos's lexicographic Lemke; false where it says there is no answer.
bool siconos(Problem p, VectorXd& z) {
  const int n = static_cast<int>(p.q.size());
  z.setZero(n);
  VectorXd w = z;
  NumericsMatrix* matrix = NM_create_from_data(NM_DENSE, n, n, p.M.data());
  LinearComplementarityProblem problem{n, matrix, p.q.data()};
  // Made once and kept: solver_options_delete of Siconos 4.4 leaves the struct itself behind.
  static SolverOptions* const options = solver_options_create(SICONOS_LCP_LEMKE);
  options->iparam[SICONOS_IPARAM_MAX_ITER] = 10000;
  int info = -1;
  lcp_lexicolemke(&problem, z.data(), w.data(), &info, options);
  matrix->matrix0 = nullptr;  // ours
  NM_clear(matrix);
  free(matrix);
  return info == 0;
}

enum class Kind { definite, p_matrix, semidefinite, dominant, frictional };

/// No entry negative, the diagonal larger than the rest of its row: copositive, and with one answer for every q.
Problem dominant(Random& random, int n) {
  Problem p = test::copositive(random, n);
  for (int i = 0; i < n; ++i) p.M(i, i) += p.M.row(i).sum();
  return p;
}

Problem make(Kind kind, Random& random) {
  const int n = 1 + random.below(20);
  switch (kind) {
    case Kind::definite:
      return test::definite(random, n);
    case Kind::p_matrix:
      return test::p_matrix(random, n);
    case Kind::semidefinite:
      return test::semidefinite(random, n);
    case Kind::dominant:
      return dominant(random, n);
    case Kind::frictional:
      break;
  }
  return test::frictional(random, 1 + random.below(4), random.below(2) ? 4 : 8);
}

struct Tally {
  int ours = 0, theirs = 0, same = 0;  ///< answers, and those of both that agree
};

double error(const Problem& p, const VectorXd& z) {
  return z.cwiseMin(p.M * z + p.q).lpNorm<Eigen::Infinity>() / p.q.lpNorm<Eigen::Infinity>();
}

/// z is compared where it is unique, w where only that is (symmetric semidefinite M).
Tally compare(Kind kind, int problems) {
  Tally tally;
  for (int k = 0; k < problems; ++k) {
    Random random(21 + static_cast<int>(kind), k);
    const Problem p = make(kind, random);
    VectorXd ours, theirs;
    Lemke lemke;
    tally.ours += lemke.solve(p.M, p.q, ours) && error(p, ours) < 1e-9;
    // Theirs has no last check: once in a thousand it returns z of 1e15 as an answer
    if (!siconos(p, theirs) || error(p, theirs) > 1e-7) continue;
    ++tally.theirs;
    const bool by_w = kind == Kind::semidefinite;
    const VectorXd a = by_w ? VectorXd(p.M * ours + p.q) : ours, b = by_w ? VectorXd(p.M * theirs + p.q) : theirs;
    tally.same += (a - b).lpNorm<Eigen::Infinity>() < 1e-8 * (1 + a.lpNorm<Eigen::Infinity>());
  }
  return tally;
}

TEST(LemkeAndSiconos, a_thousand_random_problems) {
  const int each = 200;
  for (const Kind kind : {Kind::definite, Kind::p_matrix, Kind::semidefinite, Kind::dominant, Kind::frictional}) {
    const Tally tally = compare(kind, each);
    SCOPED_TRACE(static_cast<int>(kind));
    EXPECT_EQ(tally.ours, each);
    EXPECT_GE(tally.theirs, each - 2);
    EXPECT_EQ(tally.same, tally.theirs);
  }
}

}  // namespace
}  // namespace kinegraph::linear::lcp_siconos_test

#else

TEST(LemkeAndSiconos, a_thousand_random_problems) {
  GTEST_SKIP() << "Siconos is not installed (libsiconos-numerics-dev)";
}

#endif

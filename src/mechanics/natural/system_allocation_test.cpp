#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <cstdlib>
#include <new>
#include <vector>

#include "kinegraph/mechanics/natural/models_test.hpp"
#include "kinegraph/mechanics/natural/system.hpp"

namespace {
std::atomic<long> allocations = 0;
}

// Not inlined, or the compiler sees malloc and free through new and delete and warns of a mismatch.
[[gnu::noinline]] void* operator new(std::size_t size) {
  ++allocations;
  if (void* p = std::malloc(size)) return p;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t) noexcept { std::free(p); }

namespace kinegraph::natural::system_allocation_test {
namespace {

TEST(System, EvaluationAllocatesNothing) {
  const System s(zoo());
  const std::vector<double> q(s.coordinates(), 0.3), v(q), a(q), lambda(s.constraints(), 0.2), u(s.motors(), 1.0);
  std::vector<double> f(s.constraints()), Q(s.coordinates()), J(s.jacobian_pattern().size()), J_v(J), J_a(J);
  std::vector<double> H(s.stiffness_pattern().size()), Q_q(s.force_pattern().size()), Q_v(Q_q);
  const long before = allocations;
  s.position(q.data(), 0.1, f.data(), J.data());
  s.velocity(q.data(), v.data(), 0.1, f.data(), J.data(), J_v.data());
  s.acceleration(q.data(), v.data(), a.data(), 0.1, f.data(), J.data(), J_v.data(), J_a.data());
  s.hessian(q.data(), 0.1, lambda.data(), H.data());
  s.force(q.data(), v.data(), 0.1, Q.data(), Q_q.data(), Q_v.data());
  s.motion(q.data(), v.data(), a.data(), lambda.data(), u.data(), 0.1, Q.data(), H.data(), Q_v.data(), J.data());
  const double energy = s.kinetic_energy(v.data()) + s.potential_energy(q.data());
  EXPECT_EQ(allocations, before);
  EXPECT_TRUE(std::isfinite(energy));
  const System copy_with_names(zoo());
  EXPECT_GT(allocations, before) << "the counter counts";
}

}  // namespace
}  // namespace kinegraph::natural::system_allocation_test

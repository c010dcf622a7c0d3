#include "kinegraph/linear/allocations_test.hpp"

#include <gtest/gtest.h>

#include <Eigen/Core>
#include <atomic>
#include <cstdlib>
#include <memory>

namespace {
std::atomic<long> count{0};
}

#ifndef __SANITIZE_ADDRESS__
// glibc's allocator under its own names; operator new and Eigen both end in malloc.
extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);

void* malloc(std::size_t size) {
  ++count;
  return __libc_malloc(size);
}
void* calloc(std::size_t number, std::size_t size) {
  ++count;
  return __libc_calloc(number, size);
}
void* realloc(void* memory, std::size_t size) {
  ++count;
  return __libc_realloc(memory, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) {
  ++count;
  return __libc_memalign(alignment, size);
}
}
#endif

namespace kinegraph::linear::test {

bool allocations_are_counted() {
#ifdef __SANITIZE_ADDRESS__
  return false;
#else
  return true;
#endif
}

long allocations() { return count; }

namespace {

TEST(Allocations, CountNewAndEigen) {
  if (!allocations_are_counted()) GTEST_SKIP() << "the address sanitizer owns malloc";
  const long before = allocations();
  auto number = std::make_unique<volatile int>(1);
  EXPECT_GT(allocations(), before);
  const long between = allocations();
  Eigen::VectorXd v(100);
  v.setConstant(*number);
  EXPECT_EQ(v.sum(), 100);
  EXPECT_GT(allocations(), between);
}

}  // namespace
}  // namespace kinegraph::linear::test

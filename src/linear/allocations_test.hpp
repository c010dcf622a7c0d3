#pragma once

/// Counts heap allocations of the test program, so that a test can say "this loop allocates nothing".
namespace kinegraph::linear::test {

bool allocations_are_counted();  ///< false under the address sanitizer, which owns malloc
long allocations();              ///< so far, by malloc, calloc, realloc, aligned allocation and operator new

}  // namespace kinegraph::linear::test

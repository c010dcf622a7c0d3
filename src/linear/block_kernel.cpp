#define KINEGRAPH_WIDTH 2
#define KINEGRAPH_KERNEL run_block_operations
#include "kinegraph/linear/block_kernel.inl"

namespace kinegraph::linear {

BlockKernel block_kernel() {
#if defined(__x86_64__)
  static const BlockKernel best = [] {
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq")) {
      return &run_block_operations_avx512;
    }
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return &run_block_operations_avx2;
    return &run_block_operations;
  }();
  return best;
#else
  return &run_block_operations;
#endif
}

}  // namespace kinegraph::linear

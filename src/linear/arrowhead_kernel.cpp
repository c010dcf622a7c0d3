#define KINEGRAPH_WIDTH 2
#define KINEGRAPH_KERNEL arrowhead_kernel_plain
#include "kinegraph/linear/arrowhead_kernel.inl"

namespace kinegraph::linear {

const ArrowheadKernel& arrowhead_kernel() {
  static const ArrowheadKernel best = [] {
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq")) {
      return arrowhead_kernel_avx512();
    }
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return arrowhead_kernel_avx2();
#endif
    return arrowhead_kernel_plain();
  }();
  return best;
}

}  // namespace kinegraph::linear

#define KINEGRAPH_WIDTH 2
#define KINEGRAPH_KERNEL kPacketKernel
#include "kinegraph/filter/natural_packet.inl"

namespace kinegraph::filter {

const PacketKernel& packet_kernel() {
#if defined(__x86_64__)
  static const PacketKernel& best = []() -> const PacketKernel& {
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq")) {
      return kPacketKernelAvx512;
    }
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return kPacketKernelAvx2;
    return kPacketKernel;
  }();
  return best;
#else
  return kPacketKernel;
#endif
}

}  // namespace kinegraph::filter

#define KINEGRAPH_WIDTH 8
#define KINEGRAPH_KERNEL kPacketKernelAvx512
#include "kinegraph/filter/natural_packet.inl"

#define KINEGRAPH_WIDTH 4
#define KINEGRAPH_KERNEL kPacketKernelAvx2
#include "kinegraph/filter/natural_packet.inl"

#define KINEGRAPH_WIDTH 4
#define KINEGRAPH_KERNEL arrowhead_kernel_avx2
#include "kinegraph/linear/arrowhead_kernel.inl"

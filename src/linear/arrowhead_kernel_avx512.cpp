#define KINEGRAPH_WIDTH 8
#define KINEGRAPH_KERNEL arrowhead_kernel_avx512
#include "kinegraph/linear/arrowhead_kernel.inl"

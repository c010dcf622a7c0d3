#define KINEGRAPH_WIDTH 4
#define KINEGRAPH_KERNEL run_block_operations_avx2
#include "kinegraph/linear/block_kernel.inl"

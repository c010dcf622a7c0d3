#define KINEGRAPH_WIDTH 8
#define KINEGRAPH_KERNEL run_block_operations_avx512
#include "kinegraph/linear/block_kernel.inl"

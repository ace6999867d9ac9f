// Lines matter here: the test looks for them.
__device__ __forceinline__ void inner(int *a) { *a = 3; }
__device__ __forceinline__ void outer(int *a) { inner(a + threadIdx.x); }
__global__ void kernel(int *a) { outer(a + blockIdx.x); }

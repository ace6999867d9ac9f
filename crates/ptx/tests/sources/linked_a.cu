extern __device__ int helper(int);
extern __device__ int shift;
__global__ void kernel(int *a, int n) { a[threadIdx.x] = helper(n) << shift; }

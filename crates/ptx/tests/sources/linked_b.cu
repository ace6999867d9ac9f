__device__ int shift = 5;
__device__ int helper(int n) { return 3 * n; }

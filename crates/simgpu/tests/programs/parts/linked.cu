// The other file of `linked.cu`.
#include <cstdio>

typedef int (*Function)(int);

__device__ int cube(int x);
static __device__ int square(int x) { return x + 100; }
static __device__ int own = 6;

__device__ int shared_count = 7;
__constant__ int factor;
__managed__ int managed;
__device__ Function functions[2] = {square, cube};

__device__ int apply(int x) { return factor * x; }
__device__ void say_there(int a, int b) { printf("there %d %d\n", a, b); }

__global__ void local(int *out) { out[threadIdx.x] = threadIdx.x * own + own; }

void run_there(int *out) {
    local<<<1, 32>>>(out);
    cudaDeviceSynchronize();
}

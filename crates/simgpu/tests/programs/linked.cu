// Device code of two files, linked with -rdc=true: functions, variables and pointers to functions
// of the other file, and what each file has for itself under the same name.
//# nvcc: -arch=sm_90 -rdc=true parts/linked.cu
//# once: here 1 2
//# once: there 3 4
#include "check.h"

typedef int (*Function)(int);

extern __device__ int shared_count;
extern __constant__ int factor;
extern __managed__ int managed;
extern __device__ Function functions[2];
__device__ int apply(int x);
__device__ void say_there(int a, int b);
void run_there(int *out);

static __device__ int own = 5;
static __device__ int square(int x) { return x * x; }

// The other file takes its address.
__device__ int cube(int x) { return x * x * x; }

__global__ void compute(int *out) {
    int i = threadIdx.x;
    atomicAdd(&shared_count, 1);
    out[i] = apply(i) + functions[i & 1](i) + square(own) + managed;
    if (i == 0) {
        printf("here %d %d\n", 1, 2);
        say_there(3, 4);
    }
}

// Needs code of CUDA's own, of which there is no PTX for these devices. Nobody launches it.
__global__ void launches(int *out) { compute<<<1, 32>>>(out); }

int main() {
    int *out, three = 3, count = 0;
    OK(cudaMallocManaged(&out, 32 * sizeof(int)));
    OK(cudaMemcpyToSymbol(factor, &three, sizeof three));
    managed = 1000;
    compute<<<1, 32>>>(out);
    OK(cudaDeviceSynchronize());
    OK(cudaMemcpyFromSymbol(&count, shared_count, sizeof count));
    CHECK(count == 7 + 32);
    for (int i = 0; i < 32; i++) CHECK(out[i] == 3 * i + (i & 1 ? i * i * i : i + 100) + 25 + 1000);
    run_there(out);
    for (int i = 0; i < 32; i++) CHECK(out[i] == i * 6 + 6);
}

// Addresses contain their state space, also of constant variables, if the compiler cannot know it.
//# nvcc: -arch=sm_90 -G
#include "check.h"

__constant__ int factors[4];
__device__ int counter;

__device__ int spaces(const void *p) {
    return __isGlobal(p) | __isShared(p) << 1 | __isLocal(p) << 2 | __isConstant(p) << 3;
}

__global__ void ask(int *out) {
    __shared__ int shared;
    int local = threadIdx.x;
    out[0] = spaces(out);
    out[1] = spaces(&counter);
    out[2] = spaces(&shared);
    out[3] = spaces(&local);
    out[4] = spaces(factors);
    out[5] = spaces(factors + 3);
}

int main() {
    int *out, found[6];
    OK(cudaMalloc(&out, sizeof found));
    ask<<<1, 1>>>(out);
    OK(cudaMemcpy(found, out, sizeof found, cudaMemcpyDeviceToHost));
    const int expected[6] = {1, 1, 2, 4, 8, 8};
    for (int i = 0; i < 6; i++) CHECK(found[i] == expected[i]);
    return 0;
}

// What nvcc's own code calls: registration, symbols, `<<<...>>>`.
//# nvcc: -arch=sm_90
#include "check.h"

__device__ int variable;
__managed__ int managed;

__global__ void kernel(int *p, double x) { *p = (int)x; }

__global__ void __cluster_dims__(2, 1, 1) cluster(int *p) { *p = 1; }

int main() {
    int *p;
    OK(cudaMalloc(&p, sizeof(int)));
    size_t size = 0;
    OK(cudaGetSymbolSize(&size, variable));
    CHECK(size == sizeof(int));
    EXPECT(cudaGetSymbolSize(&size, p), cudaErrorInvalidSymbol);
    managed = 5;
    CHECK(managed == 5);
    kernel<<<0, 1>>>(p, 1);
    EXPECT(cudaGetLastError(), cudaErrorInvalidValue);
    kernel<<<1, 2048>>>(p, 1);
    EXPECT(cudaGetLastError(), cudaErrorInvalidValue);
    cluster<<<2, 1>>>(p);
    // Simulated devices have no clusters.
    cudaError_t clusters = cudaGetLastError();
    CHECK(clusters == (is_simulated() ? cudaErrorNotSupported : cudaSuccess));
    kernel<<<1, 1>>>(p, 7);
    OK(cudaGetLastError());
    int result = 0;
    OK(cudaMemcpy(&result, p, sizeof result, cudaMemcpyDeviceToHost));
    CHECK(result == 7);
    void *arguments[] = {&p};
    EXPECT(cudaLaunchKernel((void *)main, dim3(1), dim3(1), arguments, 0, 0),
           is_simulated() ? cudaErrorInvalidDeviceFunction : cudaErrorInvalidResourceHandle);
    EXPECT(cudaMemcpyToSymbol(variable, &size, 8), cudaErrorInvalidValue);
    OK(cudaDeviceReset());
    CHECK(managed == 5);
}

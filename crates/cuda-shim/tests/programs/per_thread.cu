// With a default stream for each thread: handle 0 is that one, and the calls are others.
#include <cuda_runtime.h>
#include <cstdio>

static __global__ void one(int *a) { *a = 1; }

int main() {
    int *a, got = 0;
    cudaEvent_t event;
    cudaMalloc(&a, sizeof *a);
    cudaEventCreate(&event);
    cudaMemset(a, 0, sizeof *a);
    one<<<1, 1>>>(a);
    one<<<1, 1, 0, cudaStreamLegacy>>>(a);
    cudaEventRecord(event);
    cudaStreamWaitEvent(cudaStreamLegacy, event, 0);
    cudaMemcpyAsync(&got, a, sizeof *a, cudaMemcpyDeviceToHost);
    cudaStreamSynchronize(0);
    cudaStreamSynchronize(cudaStreamLegacy);
    cudaEventDestroy(event);
    cudaFree(a);
    if (got == 1 && cudaGetLastError() == cudaSuccess) printf("done\n");
}

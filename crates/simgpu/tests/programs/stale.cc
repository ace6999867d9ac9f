// A program that forgets to synchronise sees what was there before, unless the seed runs work
// early.
//# seeds: 12
//# once: stale
//# sometimes: stale
//# sometimes: fresh
#include "check.h"

int main() {
    int *device, *host;
    OK(cudaMalloc(&device, sizeof(int)));
    OK(cudaMallocHost(&host, sizeof(int)));
    *host = 1;
    cudaStream_t stream;
    OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    OK(cudaMemsetAsync(device, 0, sizeof(int), stream));
    OK(cudaMemcpyAsync(host, device, sizeof(int), cudaMemcpyDeviceToHost, stream));
    puts(*host == 1 ? "stale" : "fresh");
    OK(cudaStreamSynchronize(stream));
    CHECK(*host == 0);
    OK(cudaStreamDestroy(stream));
    OK(cudaFreeHost(host));
    OK(cudaFree(device));
}

// A program whose threads have default streams of their own.
//# nvcc: -DCUDA_API_PER_THREAD_DEFAULT_STREAM=1
//# seeds: 4
#include "check.h"
#include <thread>
#include <vector>

int main() {
    int *d, *host;
    OK(cudaMalloc(&d, 16 * sizeof(int)));
    OK(cudaMallocHost(&host, 16 * sizeof(int)));
    std::vector<std::thread> threads;
    for (int i = 0; i < 16; i++)
        threads.emplace_back([=] {
            OK(cudaMemsetAsync(d + i, i, sizeof(int)));
            OK(cudaMemcpyAsync(host + i, d + i, sizeof(int), cudaMemcpyDeviceToHost));
            OK(cudaStreamSynchronize(0));
            CHECK(host[i] == i * 0x01010101);
            unsigned long long mine, same, legacy;
            OK(cudaStreamGetId(0, &mine));
            OK(cudaStreamGetId(cudaStreamPerThread, &same));
            OK(cudaStreamGetId(cudaStreamLegacy, &legacy));
            CHECK(mine == same && mine != legacy);
        });
    for (auto &thread : threads) thread.join();
    // A thread's stream can be captured, which the legacy one cannot.
    cudaGraph_t graph;
    OK(cudaStreamBeginCapture(0, cudaStreamCaptureModeGlobal));
    OK(cudaMemsetAsync(d, 1, sizeof(int), 0));
    OK(cudaStreamEndCapture(0, &graph));
    EXPECT(cudaStreamBeginCapture(cudaStreamLegacy, cudaStreamCaptureModeGlobal),
           cudaErrorStreamCaptureUnsupported);
    // The legacy stream waits for it.
    OK(cudaMemsetAsync(d, 9, sizeof(int)));
    OK(cudaMemcpyAsync(host, d, sizeof(int), cudaMemcpyDeviceToHost, cudaStreamLegacy));
    OK(cudaStreamSynchronize(cudaStreamLegacy));
    CHECK(host[0] == 0x09090909);
}

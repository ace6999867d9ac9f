// Many host threads: each with its stream, and some that wait for others' events.
//# devices: 2
//# seeds: 3
#include "check.h"
#include <atomic>
#include <thread>
#include <vector>

static std::atomic<int> called;

static void count(void *) { called++; }

int main() {
    const int threads = 12, rounds = 40;
    std::vector<std::thread> all;
    int *shared;
    OK(cudaMalloc(&shared, threads * sizeof(int)));
    for (int i = 0; i < threads; i++)
        all.emplace_back([=] {
            OK(cudaSetDevice(i % 2));
            cudaStream_t s;
            cudaEvent_t e;
            OK(cudaStreamCreateWithFlags(&s, i % 3 ? cudaStreamNonBlocking : cudaStreamDefault));
            OK(cudaEventCreateWithFlags(&e, cudaEventDisableTiming));
            int *d, *host;
            OK(cudaMalloc(&d, sizeof(int)));
            OK(cudaMallocHost(&host, sizeof(int)));
            for (int r = 0; r < rounds; r++) {
                OK(cudaMemsetAsync(d, r + i, sizeof(int), s));
                OK(cudaMemcpyAsync(host, d, sizeof(int), cudaMemcpyDeviceToHost, s));
                OK(cudaLaunchHostFunc(s, count, nullptr));
                OK(cudaEventRecord(e, s));
                if (r % 2) OK(cudaEventSynchronize(e));
                else OK(cudaStreamSynchronize(s));
                CHECK(*host == (r + i) * 0x01010101);
            }
            OK(cudaMemcpy(shared + i, d, sizeof(int), cudaMemcpyDefault));
            OK(cudaStreamDestroy(s));
            OK(cudaEventDestroy(e));
            OK(cudaFree(d));
            OK(cudaFreeHost(host));
        });
    for (auto &thread : all) thread.join();
    OK(cudaDeviceSynchronize());
    CHECK(called == threads * rounds);
    int last[threads];
    OK(cudaMemcpy(last, shared, sizeof last, cudaMemcpyDeviceToHost));
    for (int i = 0; i < threads; i++) CHECK(last[i] == (rounds - 1 + i) * 0x01010101);
}

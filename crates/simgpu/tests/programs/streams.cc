// Streams, events, and the order that they make; the same for every seed.
//# seeds: 8
#include "check.h"

static int *a, *b, *host;

static int value(int *device) {
    int result = -1;
    OK(cudaMemcpy(&result, device, sizeof result, cudaMemcpyDeviceToHost));
    return result;
}

// What a blocking stream does comes before what the default stream does later, and after what it
// did.
static void legacy() {
    cudaStream_t s;
    OK(cudaStreamCreate(&s));
    OK(cudaMemsetAsync(a, 1, 4, s));
    OK(cudaMemcpyAsync(b, a, 4, cudaMemcpyDeviceToDevice, 0));
    OK(cudaMemsetAsync(a, 2, 4, s));
    OK(cudaStreamSynchronize(s));
    CHECK(value(b) == 0x01010101 && value(a) == 0x02020202);
    OK(cudaStreamDestroy(s));
}

// An event is what was in the stream when it was recorded; recording it again overwrites.
static void events() {
    cudaStream_t s, t;
    cudaEvent_t e;
    OK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    OK(cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking));
    OK(cudaEventCreate(&e));
    OK(cudaEventQuery(e));
    OK(cudaStreamWaitEvent(t, e, 0));
    OK(cudaMemsetAsync(a, 3, 4, s));
    OK(cudaEventRecord(e, s));
    OK(cudaMemsetAsync(a, 4, 4, s));
    OK(cudaEventRecord(e, s));
    OK(cudaStreamWaitEvent(t, e, 0));
    OK(cudaMemcpyAsync(b, a, 4, cudaMemcpyDeviceToDevice, t));
    OK(cudaStreamSynchronize(t));
    CHECK(value(b) == 0x04040404);
    OK(cudaEventDestroy(e));
    OK(cudaStreamDestroy(s));
    OK(cudaStreamDestroy(t));
}

// Asking often enough is waiting.
static void queries() {
    cudaStream_t s;
    cudaEvent_t e;
    OK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    OK(cudaEventCreate(&e));
    for (int i = 0; i < 50; i++) OK(cudaMemsetAsync(a, i, 4, s));
    OK(cudaEventRecord(e, s));
    int asked = 0;
    while (cudaEventQuery(e) == cudaErrorNotReady) CHECK(++asked < 100000000);
    OK(cudaPeekAtLastError()); // that it is not ready is no error
    OK(cudaStreamQuery(s));
    CHECK(value(a) == 49 * 0x01010101);
    OK(cudaEventDestroy(e));
    OK(cudaStreamDestroy(s));
}

// Time passes between events, in the order of the stream.
static void time() {
    cudaEvent_t start, end, none;
    float ms = -1;
    OK(cudaEventCreate(&start));
    OK(cudaEventCreate(&end));
    OK(cudaEventCreateWithFlags(&none, cudaEventDisableTiming));
    EXPECT(cudaEventElapsedTime(&ms, start, end), cudaErrorInvalidResourceHandle);
    OK(cudaEventRecord(start));
    OK(cudaMemsetAsync(a, 0, 4));
    OK(cudaEventRecord(end));
    OK(cudaEventRecord(none));
    OK(cudaEventSynchronize(end));
    OK(cudaEventElapsedTime(&ms, start, end));
    CHECK(ms > 0 && ms < 1);
    EXPECT(cudaEventElapsedTime(&ms, start, none), cudaErrorInvalidResourceHandle);
    OK(cudaEventDestroy(start));
    OK(cudaEventDestroy(end));
    OK(cudaEventDestroy(none));
}

static void add(void *data) {
    EXPECT(cudaDeviceSynchronize(), cudaErrorNotPermitted);
    *(int *)data += 1;
}

static void callback(cudaStream_t, cudaError_t status, void *data) {
    CHECK(status == cudaSuccess);
    *(int *)data *= 2;
}

// Functions run in the order of their stream.
static void functions() {
    cudaStream_t s;
    OK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    *host = 0;
    OK(cudaMemsetAsync(a, 1, 4, s));
    OK(cudaMemcpyAsync(host, a, 1, cudaMemcpyDeviceToHost, s));
    OK(cudaLaunchHostFunc(s, add, host));
    OK(cudaStreamAddCallback(s, callback, host, 0));
    OK(cudaMemcpyAsync(b, host, 4, cudaMemcpyHostToDevice, s));
    OK(cudaStreamSynchronize(s));
    CHECK(*host == 4 && value(b) == 4);
    OK(cudaStreamDestroy(s));
}

// Memory allocated and freed in stream order.
static void pools() {
    cudaStream_t s;
    OK(cudaStreamCreate(&s));
    int *p;
    OK(cudaMallocAsync((void **)&p, 1024, s));
    OK(cudaMemsetAsync(p, 7, 1024, s));
    OK(cudaMemcpyAsync(a, p, 4, cudaMemcpyDeviceToDevice, s));
    OK(cudaFreeAsync(p, s));
    EXPECT(cudaFreeAsync(p, s), cudaErrorInvalidValue);
    OK(cudaStreamSynchronize(s));
    CHECK(value(a) == 0x07070707);
    cudaMemPool_t pool;
    unsigned long long used = 1, high = 0;
    OK(cudaDeviceGetDefaultMemPool(&pool, 0));
    OK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used));
    OK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &high));
    CHECK(used == 0 && high == 1024);
    OK(cudaStreamDestroy(s));
}

int main() {
    OK(cudaMalloc(&a, 4));
    OK(cudaMalloc(&b, 4));
    OK(cudaMallocHost(&host, 4));
    legacy();
    events();
    queries();
    time();
    functions();
    pools();
    OK(cudaDeviceSynchronize());
}

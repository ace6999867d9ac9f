// The codes that mistakes give, and how long they are remembered.
//# devices: 2
#include "check.h"
#include <climits>
#include <thread>

static void remembered() {
    CHECK(cudaSetDevice(7) == cudaErrorInvalidDevice);
    CHECK(cudaPeekAtLastError() == cudaErrorInvalidDevice);
    std::thread([] { CHECK(cudaPeekAtLastError() == cudaSuccess); }).join();
    OK(cudaSetDevice(1));
    CHECK(cudaGetLastError() == cudaErrorInvalidDevice);
    CHECK(cudaGetLastError() == cudaSuccess);
    OK(cudaSetDevice(0));
    CHECK(!strcmp(cudaGetErrorName(cudaErrorInvalidDevice), "cudaErrorInvalidDevice"));
    CHECK(!strcmp(cudaGetErrorString(cudaErrorInvalidValue), "invalid argument"));
    CHECK(!strcmp(cudaGetErrorString(cudaSuccess), "no error"));
}

static void memory() {
    char *d, *h = (char *)malloc(256);
    EXPECT(cudaMalloc((void **)nullptr, 1), cudaErrorInvalidValue);
    EXPECT(cudaMalloc((void **)&d, (size_t)1 << 50), cudaErrorMemoryAllocation);
    EXPECT(cudaMallocHost((void **)&d, (size_t)-1), cudaErrorMemoryAllocation);
    EXPECT(cudaMallocManaged((void **)&d, (size_t)1 << 60), cudaErrorMemoryAllocation);
    size_t pitch, huge = (size_t)1 << 40;
    EXPECT(cudaMallocPitch((void **)&d, &pitch, huge, huge), cudaErrorInvalidValue);
    EXPECT(cudaMemcpy2D(h, huge, h, huge, huge, huge, cudaMemcpyDefault), cudaErrorInvalidValue);
    OK(cudaMalloc((void **)&d, 0));
    CHECK(d == nullptr);
    OK(cudaFree(nullptr));
    OK(cudaMalloc((void **)&d, 256));
    EXPECT(cudaFree(d + 1), cudaErrorInvalidValue);
    EXPECT(cudaFreeHost(d), cudaErrorInvalidValue);
    EXPECT(cudaMemcpy(d, h, 257, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    EXPECT(cudaMemcpy(d, h, 16, (cudaMemcpyKind)9), cudaErrorInvalidMemcpyDirection);
    EXPECT(cudaMemcpy(h, h, 16, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    EXPECT(cudaMemcpy(h, h, 16, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
    EXPECT(cudaMemcpy(d, nullptr, 16, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    OK(cudaMemcpy(nullptr, nullptr, 0, cudaMemcpyHostToDevice));
    EXPECT(cudaMemset(h, 0, 16), cudaErrorInvalidValue);
    EXPECT(cudaMemset(d + 250, 0, 16), cudaErrorInvalidValue);
    EXPECT(cudaMemcpy2D(d, 8, h, 4, 6, 2, cudaMemcpyHostToDevice), cudaErrorInvalidPitchValue);
    EXPECT(cudaMemcpy2D(d, 128, h, 8, 8, 3, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    OK(cudaFree(d));
    EXPECT(cudaFree(d), cudaErrorInvalidValue);
    EXPECT(cudaMemset(d, 0, 16), cudaErrorInvalidValue);
    OK(cudaHostRegister(h, 256, cudaHostRegisterDefault));
    EXPECT(cudaHostRegister(h, 256, 0), cudaErrorHostMemoryAlreadyRegistered);
    OK(cudaMemset(h, 5, 16));
    CHECK(h[15] == 5);
    OK(cudaHostUnregister(h));
    EXPECT(cudaHostUnregister(h), cudaErrorHostMemoryNotRegistered);
    EXPECT(cudaMallocManaged((void **)&d, 16, 9), cudaErrorInvalidValue);
    free(h);
}

static void streams() {
    cudaStream_t s;
    cudaEvent_t e, other;
    EXPECT(cudaStreamCreateWithFlags(&s, 9), cudaErrorInvalidValue);
    EXPECT(cudaStreamSynchronize((cudaStream_t)0x1234), cudaErrorInvalidResourceHandle);
    EXPECT(cudaStreamDestroy(0), cudaErrorInvalidResourceHandle);
    EXPECT(cudaEventSynchronize((cudaEvent_t)0x1234), cudaErrorInvalidResourceHandle);
    EXPECT(cudaEventCreateWithFlags(&e, cudaEventInterprocess), cudaErrorInvalidValue);
    OK(cudaStreamCreate(&s));
    OK(cudaEventCreate(&e));
    OK(cudaSetDevice(1));
    OK(cudaEventCreate(&other));
    OK(cudaSetDevice(0));
    EXPECT(cudaEventRecord(other, s), cudaErrorInvalidResourceHandle);
    OK(cudaEventRecord(e, s));
    OK(cudaEventDestroy(e));
    EXPECT(cudaEventQuery(e), cudaErrorInvalidResourceHandle);
    OK(cudaStreamDestroy(s));
    EXPECT(cudaStreamQuery(s), cudaErrorInvalidResourceHandle);
    int low, high;
    OK(cudaDeviceGetStreamPriorityRange(&low, &high));
    OK(cudaStreamCreateWithPriority(&s, 0, INT_MIN));
    int priority;
    OK(cudaStreamGetPriority(s, &priority));
    CHECK(priority == high && high < low);
}

static void devices() {
    int can = 9;
    cudaDeviceProp p;
    OK(cudaGetDeviceProperties(&p, 1));
    CHECK(p.major == 9 && p.warpSize == 32 && p.multiProcessorCount > 0 && p.pciBusID == 2);
    CHECK(!strcmp(p.name, "commsan simulated device"));
    EXPECT(cudaGetDeviceProperties(&p, 2), cudaErrorInvalidDevice);
    OK(cudaDeviceCanAccessPeer(&can, 0, 1));
    CHECK(can == 1);
    OK(cudaDeviceCanAccessPeer(&can, 0, 0));
    CHECK(can == 0);
    OK(cudaDeviceEnablePeerAccess(1, 0));
    EXPECT(cudaDeviceEnablePeerAccess(1, 0), cudaErrorPeerAccessAlreadyEnabled);
    EXPECT(cudaDeviceEnablePeerAccess(0, 0), cudaErrorInvalidDevice);
    OK(cudaDeviceDisablePeerAccess(1));
    EXPECT(cudaDeviceDisablePeerAccess(1), cudaErrorPeerAccessNotEnabled);
    char id[16];
    int device;
    OK(cudaDeviceGetPCIBusId(id, sizeof id, 1));
    OK(cudaDeviceGetByPCIBusId(&device, id));
    CHECK(device == 1);
    size_t free, total, limit;
    OK(cudaMemGetInfo(&free, &total));
    CHECK(free == total && total == p.totalGlobalMem);
    OK(cudaDeviceGetLimit(&limit, cudaLimitStackSize));
    CHECK(limit == 1024);
    EXPECT(cudaDeviceSetLimit((cudaLimit)77, 1), cudaErrorUnsupportedLimit);
}

static void asked() {
    char local;
    cudaPointerAttributes a;
    OK(cudaPointerGetAttributes(&a, &local));
    CHECK(a.type == cudaMemoryTypeUnregistered);
    char *p;
    OK(cudaSetDevice(1));
    OK(cudaMalloc((void **)&p, 100));
    OK(cudaPointerGetAttributes(&a, p + 99));
    CHECK(a.type == cudaMemoryTypeDevice && a.device == 1 && a.devicePointer == p + 99);
    OK(cudaFree(p));
    OK(cudaHostAlloc((void **)&p, 100, cudaHostAllocMapped));
    OK(cudaPointerGetAttributes(&a, p));
    CHECK(a.type == cudaMemoryTypeHost && a.hostPointer == p && a.devicePointer == p);
    unsigned flags;
    OK(cudaHostGetFlags(&flags, p));
    CHECK(flags == cudaHostAllocMapped);
    char *d;
    OK(cudaHostGetDevicePointer((void **)&d, p, 0));
    CHECK(d == p);
    EXPECT(cudaHostGetDevicePointer((void **)&d, &local, 0), cudaErrorInvalidValue);
    OK(cudaFreeHost(p));
    OK(cudaMallocManaged((void **)&p, 100));
    OK(cudaPointerGetAttributes(&a, p));
    CHECK(a.type == cudaMemoryTypeManaged);
    OK(PREFETCH(p, 100, 1));
    OK(ADVISE(p, 100, cudaMemAdviseSetPreferredLocation, 1));
    EXPECT(ADVISE(p, 100, cudaMemAdviseSetAccessedBy, 5), cudaErrorInvalidDevice);
    EXPECT(PREFETCH(&local, 1, 1), cudaErrorInvalidValue);
    OK(cudaFree(p));
}

int main() {
    remembered();
    memory();
    streams();
    devices();
    asked();
    OK(cudaDeviceReset());
    int version;
    OK(cudaRuntimeGetVersion(&version));
    CHECK(version == CUDART_VERSION);
    void *function;
    cudaDriverEntryPointQueryResult status;
    EXPECT(cudaGetDriverEntryPointByVersion("cuInit", &function, 12000, 0, &status),
           cudaErrorSymbolNotFound);
    EXPECT(cudaMallocArray(nullptr, nullptr, 1, 1, 0), cudaErrorInvalidValue);
    EXPECT(cudaMallocMipmappedArray(nullptr, nullptr, cudaExtent{}, 1, 0), cudaErrorNotSupported);
}

// Several devices: copies between them, waits across them.
//# devices: 3
//# seeds: 6
#include "check.h"

static int *on(int device, int value) {
    int *p;
    OK(cudaSetDevice(device));
    OK(cudaMalloc(&p, sizeof(int)));
    OK(cudaMemset(p, value, sizeof(int)));
    OK(cudaDeviceSynchronize());
    return p;
}

static int value(int *p) {
    int result;
    OK(cudaMemcpy(&result, p, sizeof result, cudaMemcpyDefault));
    return result;
}

int main() {
    int *p[3] = {on(0, 1), on(1, 2), on(2, 3)};
    cudaStream_t s[3];
    cudaEvent_t e;
    for (int i = 0; i < 3; i++) {
        OK(cudaSetDevice(i));
        OK(cudaStreamCreateWithFlags(&s[i], cudaStreamNonBlocking));
    }
    // A chain over all devices, by events.
    for (int i = 0; i < 2; i++) {
        OK(cudaSetDevice(i));
        OK(cudaEventCreateWithFlags(&e, cudaEventDisableTiming));
        OK(cudaMemcpyPeerAsync(p[i + 1], i + 1, p[i], i, sizeof(int), s[i]));
        OK(cudaEventRecord(e, s[i]));
        OK(cudaStreamWaitEvent(s[i + 1], e, 0));
        OK(cudaEventDestroy(e));
    }
    OK(cudaStreamSynchronize(s[2]));
    CHECK(value(p[2]) == 0x01010101);
    // cudaMemcpyPeer waits for all work of its devices, and all later work for it.
    OK(cudaMemsetAsync(p[1], 5, sizeof(int), s[1]));
    OK(cudaMemcpyPeer(p[2], 2, p[1], 1, sizeof(int)));
    OK(cudaMemcpyAsync(p[0], p[2], sizeof(int), cudaMemcpyDefault, s[2]));
    OK(cudaStreamSynchronize(s[2]));
    CHECK(value(p[0]) == 0x05050505);
    // A device's synchronisation is not another's.
    OK(cudaSetDevice(1));
    OK(cudaMemsetAsync(p[1], 6, sizeof(int), s[1]));
    OK(cudaSetDevice(2));
    OK(cudaDeviceSynchronize());
    OK(cudaSetDevice(1));
    OK(cudaDeviceSynchronize());
    CHECK(value(p[1]) == 0x06060606);
    OK(cudaDeviceReset());
    EXPECT(cudaStreamQuery(s[1]), cudaErrorInvalidResourceHandle);
    EXPECT(cudaMemset(p[1], 0, 4), cudaErrorInvalidValue);
    OK(cudaSetDevice(0));
    OK(cudaFree(p[0]));
    EXPECT(cudaMemcpyPeer(p[2], 2, p[1], 9, sizeof(int)), cudaErrorInvalidDevice);
}

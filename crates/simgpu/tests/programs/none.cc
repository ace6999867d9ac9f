// A machine without devices.
//# devices: 0
#include "check.h"

extern "C" int MPIX_Query_cuda_support();

int main() {
    CHECK(MPIX_Query_cuda_support() == 0);
    int count = 7;
    void *p;
    cudaStream_t s;
    CHECK(cudaGetDeviceCount(&count) == cudaErrorNoDevice && count == 0);
    CHECK(cudaPeekAtLastError() == cudaErrorNoDevice);
    EXPECT(cudaMalloc(&p, 4), cudaErrorNoDevice);
    EXPECT(cudaStreamCreate(&s), cudaErrorNoDevice);
    EXPECT(cudaDeviceSynchronize(), cudaErrorNoDevice);
    EXPECT(cudaSetDevice(0), cudaErrorInvalidDevice);
}

// Kernels give what the host computes: arrays, shared memory, atomics, variables of the device,
// printf, cooperation between devices through flags; and a kernel that goes astray is an error of
// the device.
//# nvcc: -arch=sm_90 -lineinfo
//# devices: 2
//# seeds: 3
//# once: block 1 of 2 has 3.5
#include "check.h"
#include <vector>

__constant__ double weights[3];
__device__ int counter = 40;

__global__ void saxpy(int n, float a, const float *x, float *y) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        y[i] = a * x[i] + y[i];
}

__global__ void stencil(int n, const double *in, double *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > 0 && i < n - 1)
        out[i] = weights[0] * in[i - 1] + weights[1] * in[i] + weights[2] * in[i + 1];
}

__global__ void sum(int n, const double *in, double *out) {
    __shared__ double part[128];
    double mine = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x) mine += in[i];
    part[threadIdx.x] = mine;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) *out = part[0];
}

__global__ void count() { atomicAdd(&counter, 1); }

__global__ void speak() {
    if (blockIdx.x == 1 && threadIdx.x == 0)
        printf("block %d of %d has %g\n", blockIdx.x, gridDim.x, 3.5);
}

// Each device waits for the other one's answer.
__global__ void play(volatile int *mine, volatile int *theirs, int first, int rounds) {
    for (int round = 0; round < rounds; round++) {
        if (first) *theirs = round + 1;
        while (*mine != round + 1) {}
        if (!first) *theirs = round + 1;
    }
}

__global__ void astray(int *p) { p[1 << 20] = 1; }

static void arrays() {
    const int n = 10000;
    std::vector<float> x(n), y(n), result(n);
    for (int i = 0; i < n; i++) x[i] = i % 17, y[i] = i % 5;
    float *dx, *dy;
    OK(cudaMalloc(&dx, n * sizeof *dx));
    OK(cudaMalloc(&dy, n * sizeof *dy));
    OK(cudaMemcpy(dx, x.data(), n * sizeof *dx, cudaMemcpyHostToDevice));
    OK(cudaMemcpy(dy, y.data(), n * sizeof *dy, cudaMemcpyHostToDevice));
    saxpy<<<7, 96>>>(n, 2.5f, dx, dy);
    OK(cudaGetLastError());
    OK(cudaMemcpy(result.data(), dy, n * sizeof *dy, cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i++) CHECK(result[i] == 2.5f * x[i] + y[i]);
    OK(cudaFree(dx));
    OK(cudaFree(dy));
}

static void managed() {
    const int n = 1000;
    double *in, *out, *total;
    OK(cudaMallocManaged(&in, n * sizeof *in));
    OK(cudaMallocManaged(&out, n * sizeof *out));
    OK(cudaMallocManaged(&total, sizeof *total));
    for (int i = 0; i < n; i++) in[i] = i * i % 31, out[i] = 0;
    const double w[3] = {0.25, 0.5, 0.25};
    OK(cudaMemcpyToSymbol(weights, w, sizeof w));
    stencil<<<(n + 63) / 64, 64>>>(n, in, out);
    sum<<<1, 128>>>(n, out, total);
    OK(cudaDeviceSynchronize());
    double expected = 0;
    for (int i = 1; i < n - 1; i++) {
        double one = 0.25 * in[i - 1] + 0.5 * in[i] + 0.25 * in[i + 1];
        CHECK(out[i] == one);
        expected += one;
    }
    CHECK(*total == expected);
    OK(cudaFree(in));
    OK(cudaFree(out));
    OK(cudaFree(total));
}

static void variables() {
    count<<<3, 50>>>();
    int value = 0;
    OK(cudaMemcpyFromSymbol(&value, counter, sizeof value));
    CHECK(value == 40 + 150);
    speak<<<2, 32>>>();
    OK(cudaDeviceSynchronize());
}

static void two_devices() {
    int *flags[2];
    cudaStream_t streams[2];
    for (int device = 0; device < 2; device++) {
        OK(cudaSetDevice(device));
        OK(cudaDeviceEnablePeerAccess(1 - device, 0));
        OK(cudaStreamCreate(&streams[device]));
        OK(cudaMalloc(&flags[device], sizeof(int)));
        OK(cudaMemset(flags[device], 0, sizeof(int)));
        OK(cudaDeviceSynchronize());
    }
    for (int device = 0; device < 2; device++) {
        OK(cudaSetDevice(device));
        play<<<1, 1, 0, streams[device]>>>(flags[device], flags[1 - device], device == 0, 20);
    }
    for (int device = 0; device < 2; device++) {
        OK(cudaStreamSynchronize(streams[device]));
        int last = 0;
        OK(cudaMemcpy(&last, flags[device], sizeof last, cudaMemcpyDefault));
        CHECK(last == 20);
    }
}

int main() {
    arrays();
    managed();
    variables();
    two_devices();
    OK(cudaSetDevice(0));
    int *p;
    OK(cudaMalloc(&p, 64));
    astray<<<1, 1>>>(p);
    EXPECT(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
    EXPECT(cudaGetLastError(), cudaErrorIllegalAddress);
}

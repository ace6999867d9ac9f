// What every program here uses.
#pragma once
#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>

// Ends the program unless the call gives success.
#define OK(call) EXPECT(call, cudaSuccess)

// Ends the program unless the call gives this error; then the error is forgotten.
#define EXPECT(call, expected)                                                                     \
    do {                                                                                           \
        cudaError_t got_ = (call);                                                                 \
        if (got_ != (expected)) {                                                                  \
            printf("%s:%d: %s is %s, not %s\n", __FILE__, __LINE__, #call, cudaGetErrorName(got_), \
                   cudaGetErrorName(expected));                                                    \
            exit(1);                                                                               \
        }                                                                                          \
        if (got_ != cudaSuccess) cudaGetLastError();                                               \
    } while (0)

// Ends the program unless this holds.
#define CHECK(condition)                                                        \
    do {                                                                        \
        if (!(condition)) {                                                     \
            printf("%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);      \
            exit(1);                                                            \
        }                                                                       \
    } while (0)

// Whether the device is a simulated one, which is stricter or simpler in places.
[[maybe_unused]] static bool is_simulated() {
    cudaDeviceProp properties;
    OK(cudaGetDeviceProperties(&properties, 0));
    return strstr(properties.name, "simulated");
}

// What has other parameters in CUDA 12.
#if CUDART_VERSION < 13000
#define EDGES(graph, from, to, count) cudaGraphGetEdges(graph, from, to, count)
#define CONNECT(graph, from, to, count) cudaGraphAddDependencies(graph, from, to, count)
#define ADD_NODE(node, graph, after, count, params) cudaGraphAddNode(node, graph, after, count, params)
#define PREFETCH(p, size, device) cudaMemPrefetchAsync(p, size, device, 0)
#define ADVISE(p, size, advice, device) cudaMemAdvise(p, size, advice, device)
#else
[[maybe_unused]] static cudaMemLocation on_device_(int device) {
    cudaMemLocation location = {};
    location.type = cudaMemLocationTypeDevice;
    location.id = device;
    return location;
}
#define EDGES(graph, from, to, count) cudaGraphGetEdges(graph, from, to, nullptr, count)
#define CONNECT(graph, from, to, count) cudaGraphAddDependencies(graph, from, to, nullptr, count)
#define ADD_NODE(node, graph, after, count, params) cudaGraphAddNode(node, graph, after, nullptr, count, params)
#define PREFETCH(p, size, device) cudaMemPrefetchAsync(p, size, on_device_(device), 0, 0)
#define ADVISE(p, size, advice, device) cudaMemAdvise(p, size, advice, on_device_(device))
#endif

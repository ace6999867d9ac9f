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

// Datatypes, and what reductions give on the host.
#pragma once
#include "ranks.h"
#include <cmath>

// How a type is called, and how far results may be from exact ones, for each operation.
template <typename T> struct Type;
#define TYPE(T, name, epsilon)                          \
    template <> struct Type<T> {                        \
        static constexpr ncclDataType_t datatype = name; \
        static constexpr double error = epsilon;         \
    };
TYPE(signed char, ncclInt8, 0)
TYPE(unsigned char, ncclUint8, 0)
TYPE(int, ncclInt32, 0)
TYPE(unsigned, ncclUint32, 0)
TYPE(long long, ncclInt64, 0)
TYPE(unsigned long long, ncclUint64, 0)
TYPE(__half, ncclFloat16, 0x1p-10)
TYPE(float, ncclFloat32, 0x1p-22)
TYPE(double, ncclFloat64, 0x1p-51)
TYPE(__nv_bfloat16, ncclBfloat16, 0x1p-7)
TYPE(__nv_fp8_e4m3, ncclFloat8e4m3, 0x1p-3)
TYPE(__nv_fp8_e5m2, ncclFloat8e5m2, 0x1p-2)

template <typename T> T made(double value) { return T(value); }
template <> inline __half made(double value) { return __float2half(float(value)); }
template <> inline __nv_bfloat16 made(double value) { return __float2bfloat16(float(value)); }

template <typename T> double number(T value) { return double(value); }
template <> inline double number(__half value) { return __half2float(value); }
template <> inline double number(__nv_bfloat16 value) { return __bfloat162float(value); }
template <> inline double number(__nv_fp8_e4m3 value) { return float(value); }
template <> inline double number(__nv_fp8_e5m2 value) { return float(value); }

template <typename T> constexpr bool is_signed() { return std::is_signed<T>::value || Type<T>::error > 0; }

// A rank's value: small, so that products of four are exact.
template <typename T> T value(int rank, size_t at) {
    double small = 1 + (at * 7 + rank * 3 + at / 5) % 2;
    bool negative = is_signed<T>() && (at + rank) % 3 == 0;
    return made<T>(negative ? -small : small);
}

template <typename T> std::vector<T> values(int rank, size_t count) {
    std::vector<T> all(count);
    for (size_t at = 0; at < count; at++) all[at] = value<T>(rank, at);
    return all;
}

// What a reduction over all ranks gives, where all of it is exact but for averages.
template <typename T> double reduced(ncclRedOp_t op, int ranks, size_t at) {
    double result = number(value<T>(0, at));
    for (int rank = 1; rank < ranks; rank++) {
        double next = number(value<T>(rank, at));
        if (op == ncclSum || op == ncclAvg) result += next;
        if (op == ncclProd) result *= next;
        if (op == ncclMin) result = std::fmin(result, next);
        if (op == ncclMax) result = std::fmax(result, next);
    }
    if (op == ncclAvg) result = Type<T>::error > 0 ? result / ranks : std::trunc(result / ranks);
    return result;
}

template <typename T> bool is_near(T got, double expected, int ranks) {
    return std::fabs(number(got) - expected) <= Type<T>::error * ranks * 2;
}

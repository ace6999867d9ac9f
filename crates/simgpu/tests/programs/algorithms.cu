// Thrust and CUB, which choose their kernels by the architecture that the PTX was compiled for.
//# nvcc: -std=c++17 -arch=sm_80 --extended-lambda
#include "check.h"
#include <algorithm>
#include <cub/cub.cuh>
#include <numeric>
#include <thrust/binary_search.h>
#include <thrust/copy.h>
#include <thrust/device_vector.h>
#include <thrust/execution_policy.h>
#include <thrust/partition.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sequence.h>
#include <thrust/sort.h>
#include <thrust/transform_reduce.h>
#include <thrust/unique.h>
#include <vector>

__global__ void kernel() {}

struct Square {
    __host__ __device__ double operator()(double x) const { return x * x; }
};
struct IsEven {
    __host__ __device__ bool operator()(int x) const { return x % 2 == 0; }
};

using Ints = std::vector<int>;

static Ints host(const thrust::device_vector<int> &of) {
    Ints copied(of.size());
    thrust::copy(of.begin(), of.end(), copied.begin());
    return copied;
}

// Calls an algorithm of CUB as all are called: for how much memory it needs, then with that.
template <class Algorithm> static void with_storage(Algorithm algorithm) {
    size_t size = 0;
    OK(algorithm(nullptr, size));
    thrust::device_vector<char> storage(std::max<size_t>(size, 1));
    OK(algorithm(thrust::raw_pointer_cast(storage.data()), size));
    OK(cudaDeviceSynchronize());
}

static void thrust_algorithms(const Ints &numbers) {
    const int n = numbers.size();
    Ints sorted = numbers;
    std::stable_sort(sorted.begin(), sorted.end());
    thrust::device_vector<int> keys(numbers.begin(), numbers.end()), places(n);
    thrust::sequence(places.begin(), places.end());
    thrust::stable_sort_by_key(keys.begin(), keys.end(), places.begin());
    CHECK(host(keys) == sorted);
    Ints at = host(places);
    for (int i = 0; i < n; i++) {
        CHECK(numbers[at[i]] == sorted[i]);
        CHECK(i == 0 || sorted[i] != sorted[i - 1] || at[i] > at[i - 1]);
    }
    // By comparison, which is a sort by merging.
    thrust::device_vector<int> falling(numbers.begin(), numbers.end());
    thrust::sort(falling.begin(), falling.end(), [] __device__(int a, int b) { return a > b; });
    CHECK(host(falling) == Ints(sorted.rbegin(), sorted.rend()));

    CHECK(thrust::reduce(keys.begin(), keys.end()) == std::accumulate(sorted.begin(), sorted.end(), 0));
    Ints sums(n);
    std::partial_sum(sorted.begin(), sorted.end(), sums.begin());
    thrust::device_vector<int> scanned(n);
    thrust::inclusive_scan(keys.begin(), keys.end(), scanned.begin());
    CHECK(host(scanned) == sums);
    thrust::device_vector<double> line(n);
    thrust::sequence(line.begin(), line.end());
    double squares = thrust::transform_reduce(line.begin(), line.end(), Square(), 0., thrust::plus<double>());
    CHECK(squares == (n - 1.) * n * (2 * n - 1.) / 6);

    thrust::device_vector<int> wanted(1, sorted[n / 2]), found(1);
    thrust::lower_bound(keys.begin(), keys.end(), wanted.begin(), wanted.end(), found.begin());
    CHECK(found[0] == std::lower_bound(sorted.begin(), sorted.end(), sorted[n / 2]) - sorted.begin());
    thrust::device_vector<int> even(n);
    auto even_end = thrust::copy_if(keys.begin(), keys.end(), even.begin(), IsEven());
    CHECK(even_end - even.begin() == std::count_if(sorted.begin(), sorted.end(), IsEven()));
    keys.resize(thrust::unique(keys.begin(), keys.end()) - keys.begin());
    sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
    CHECK(host(keys) == sorted);
}

static void cub_algorithms(const Ints &numbers) {
    const int n = numbers.size(), bins = 50;
    thrust::device_vector<int> in(numbers.begin(), numbers.end()), out(n), counts(bins), runs(1);
    const int *from = thrust::raw_pointer_cast(in.data());
    int *to = thrust::raw_pointer_cast(out.data()), *count = thrust::raw_pointer_cast(counts.data());
    int *length = thrust::raw_pointer_cast(runs.data());
    with_storage([&](void *p, size_t &size) { return cub::DeviceReduce::Max(p, size, from, to, n); });
    CHECK(out[0] == *std::max_element(numbers.begin(), numbers.end()));
    with_storage([&](void *p, size_t &size) { return cub::DeviceScan::ExclusiveSum(p, size, from, to, n); });
    CHECK(out[n - 1] == std::accumulate(numbers.begin(), numbers.end() - 1, 0));
    with_storage([&](void *p, size_t &size) {
        return cub::DeviceHistogram::HistogramEven(p, size, from, count, bins + 1, 0, 1000, n);
    });
    Ints expected(bins);
    for (int number : numbers) expected[number / (1000 / bins)]++;
    CHECK(host(counts) == expected);
    with_storage([&](void *p, size_t &size) { return cub::DeviceSelect::If(p, size, from, to, length, n, IsEven()); });
    CHECK(runs[0] == std::count_if(numbers.begin(), numbers.end(), IsEven()));
    with_storage([&](void *p, size_t &size) { return cub::DeviceRadixSort::SortKeysDescending(p, size, from, to, n); });
    Ints sorted = numbers;
    std::sort(sorted.rbegin(), sorted.rend());
    CHECK(host(out) == sorted);
}

int main() {
    cudaFuncAttributes attributes;
    OK(cudaFuncGetAttributes(&attributes, kernel));
    CHECK(attributes.ptxVersion == 80 && attributes.binaryVersion == 90);
    for (int n : {1, 100, 5000}) {
        Ints numbers(n);
        for (int i = 0; i < n; i++) numbers[i] = i * 7919L % 1000;
        thrust_algorithms(numbers);
        cub_algorithms(numbers);
    }
}

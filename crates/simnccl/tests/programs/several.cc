// Several communicators at once: with ranks in another order, split off, of fewer ranks, made
// without waiting; operators of the program's own; one communicator in several streams.
//# devices: 2 4
//# as: threads
//# as: processes
//# as: both
#include "values.h"

static std::vector<float> all(float value) { return std::vector<float>(3000, value); }

static void expect_sum(ncclComm_t comm, cudaStream_t stream, float own, float sum) {
    Array<float> values(all(own));
    NCCL(ncclAllReduce(values.at, values.at, values.size, ncclFloat, ncclSum, comm, stream));
    CHECK(values.values(stream) == all(sum));
}

// A half of the ranks, last first; and one more in the meantime.
static void split(const Rank &rank) {
    ncclComm_t half, reversed, none;
    NCCL(ncclCommSplit(rank.comm, rank.number % 2, -rank.number, &half, nullptr));
    NCCL(ncclCommSplit(rank.comm, 7, rank.count - rank.number, &reversed, nullptr));
    NCCL(ncclCommSplit(rank.comm, rank.number == 0 ? 1 : NCCL_SPLIT_NOCOLOR, 0, &none, nullptr));
    int count, number, device;
    NCCL(ncclCommCount(half, &count));
    NCCL(ncclCommUserRank(half, &number));
    NCCL(ncclCommCuDevice(half, &device));
    CHECK(count == rank.count / 2 && number == count - 1 - rank.number / 2 && device == rank.number);
    NCCL(ncclCommUserRank(reversed, &number));
    CHECK(number == rank.count - 1 - rank.number);
    CHECK((none != nullptr) == (rank.number == 0));

    // Both at once, and the whole: what each gives depends on its ranks alone.
    cudaStream_t other;
    OK(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
    Array<float> one(all(1 + rank.number)), two(all(10)), three(all(rank.number));
    NCCL(ncclAllReduce(one.at, one.at, one.size, ncclFloat, ncclSum, half, rank.stream));
    NCCL(ncclAllReduce(two.at, two.at, two.size, ncclFloat, ncclSum, rank.comm, other));
    NCCL(ncclBroadcast(three.at, three.at, three.size, ncclFloat, 0, reversed, rank.stream));
    float halves = 0;
    for (int member = rank.number % 2; member < rank.count; member += 2) halves += 1 + member;
    CHECK(two.values(other) == all(10.f * rank.count));
    CHECK(three.values(rank.stream) == all(rank.count - 1.f));
    CHECK(one.values(rank.stream) == all(halves));
    OK(cudaStreamDestroy(other));

    NCCL(ncclCommDestroy(half));
    NCCL(ncclCommDestroy(reversed));
    NCCL(ncclCommDestroy(none));
}

// All but the last one.
static void shrink(const Rank &rank) {
    int excluded = rank.count - 1;
    if (rank.number == excluded) return;
    ncclComm_t fewer;
    NCCL(ncclCommShrink(rank.comm, &excluded, 1, &fewer, nullptr, NCCL_SHRINK_DEFAULT));
    int count;
    NCCL(ncclCommCount(fewer, &count));
    CHECK(count == rank.count - 1);
    expect_sum(fewer, rank.stream, 2, 2.f * count);
    NCCL(ncclCommDestroy(fewer));
}

// Made without waiting, several in one group.
static void without_waiting(const Rank &rank) {
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    config.blocking = 0;
    ncclComm_t comms[2];
    GIVES(ncclGroupStart(), ncclSuccess);
    for (auto &comm : comms) {
        ncclResult_t result = ncclCommSplit(rank.comm, 0, rank.number, &comm, &config);
        CHECK(result == ncclSuccess || result == ncclInProgress);
    }
    ncclResult_t result = ncclGroupEnd();
    CHECK(result == ncclSuccess || result == ncclInProgress);
    for (auto &comm : comms) {
        do NCCL(ncclCommGetAsyncError(comm, &result));
        while (result == ncclInProgress);
        NCCL(result);
        expect_sum(comm, rank.stream, 1, rank.count);
        NCCL(ncclCommFinalize(comm));
        NCCL(ncclCommDestroy(comm));
    }
}

template <typename T> void premultiplied(const Rank &rank, ncclScalarResidence_t residence) {
    T factor = made<T>(rank.number + 1);
    Array<T> on_device(std::vector<T>{factor});
    ncclRedOp_t op;
    void *scalar = residence == ncclScalarDevice ? on_device.at : &factor;
    NCCL(ncclRedOpCreatePreMulSum(&op, scalar, Type<T>::datatype, residence, rank.comm));
    // It is read at once.
    if (residence == ncclScalarHostImmediate) factor = made<T>(0);
    Array<T> values(std::vector<T>(1001, made<T>(2)));
    NCCL(ncclAllReduce(values.at, values.at, values.size, Type<T>::datatype, op, rank.comm, rank.stream));
    GIVES(ncclAllReduce(values.at, values.at, 1, ncclFloat8e4m3, op, rank.comm, rank.stream), ncclInvalidArgument);
    NCCL(ncclRedOpDestroy(op, rank.comm));
    GIVES(ncclRedOpDestroy(op, rank.comm), ncclInvalidArgument);
    GIVES(ncclAllReduce(values.at, values.at, 1, Type<T>::datatype, op, rank.comm, rank.stream),
          ncclInvalidArgument);
    for (T value : values.values(rank.stream)) CHECK(number(value) == rank.count * (rank.count + 1));
}

// Kernels of a communicator are in order, whatever streams they are in.
static void streams(const Rank &rank) {
    cudaStream_t other;
    OK(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
    Array<float> values(all(1));
    float expected = 1;
    for (int round = 0; round < 6; round++) {
        cudaStream_t stream = round % 2 ? other : rank.stream;
        NCCL(ncclAllReduce(values.at, values.at, values.size, ncclFloat, ncclSum, rank.comm, stream));
        expected *= rank.count;
    }
    CHECK(values.values(other) == all(expected));
    // A group's kernel is in all its streams.
    Array<float> one(all(1)), two(all(2));
    NCCL(ncclGroupStart());
    NCCL(ncclAllReduce(one.at, one.at, one.size, ncclFloat, ncclSum, rank.comm, rank.stream));
    NCCL(ncclAllReduce(two.at, two.at, two.size, ncclFloat, ncclSum, rank.comm, other));
    NCCL(ncclGroupEnd());
    CHECK(two.values(other) == all(2.f * rank.count));
    CHECK(one.values(rank.stream) == all(rank.count));
    OK(cudaStreamDestroy(other));
}

static void body(Rank &rank) {
    split(rank);
    shrink(rank);
    without_waiting(rank);
    for (auto residence : {ncclScalarDevice, ncclScalarHostImmediate}) {
        premultiplied<signed char>(rank, residence);
        premultiplied<unsigned long long>(rank, residence);
        premultiplied<__half>(rank, residence);
        premultiplied<__nv_bfloat16>(rank, residence);
        premultiplied<float>(rank, residence);
        premultiplied<double>(rank, residence);
    }
    streams(rank);
    void *memory, *handle;
    NCCL(ncclMemAlloc(&memory, 1000));
    NCCL(ncclCommRegister(rank.comm, memory, 1000, &handle));
    NCCL(ncclCommDeregister(rank.comm, handle));
    GIVES(ncclCommDeregister(rank.comm, handle), ncclInvalidArgument);
    NCCL(ncclMemFree(memory));
}

int main(int, char **arguments) { as_told(arguments, body); }

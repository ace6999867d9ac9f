// What is refused, and as what; and communicators that are aborted.
//# devices: 2
#include "values.h"

// With both communicators of one process.
static void arguments(ncclComm_t comm, cudaStream_t stream) {
    Array<float> values(std::vector<float>(100));
    auto reduce = [&](int type, int op, ncclComm_t comm) {
        return ncclAllReduce(values.at, values.at, 100, ncclDataType_t(type), ncclRedOp_t(op), comm, stream);
    };
    GIVES(reduce(ncclFloat, ncclSum, nullptr), ncclInvalidArgument);
    GIVES(reduce(ncclFloat, ncclSum, (ncclComm_t)&values), ncclInvalidArgument);
    CHECK(std::string(ncclGetLastError(nullptr)).find("ncclAllReduce") == 0);
    GIVES(reduce(ncclNumTypes, ncclSum, comm), ncclInvalidArgument);
    GIVES(reduce(-1, ncclSum, comm), ncclInvalidArgument);
    GIVES(reduce(ncclFloat, ncclNumOps, comm), ncclInvalidArgument);
    GIVES(reduce(ncclFloat, -1, comm), ncclInvalidArgument);
    for (int root : {-1, 2}) {
        GIVES(ncclBroadcast(values.at, values.at, 1, ncclInt, root, comm, stream), ncclInvalidArgument);
        GIVES(ncclReduce(values.at, values.at, 1, ncclInt, ncclSum, root, comm, stream), ncclInvalidArgument);
        GIVES(ncclSend(values.at, 1, ncclInt, root, comm, stream), ncclInvalidArgument);
        GIVES(ncclGather(values.at, values.at, 1, ncclInt, root, comm, stream), ncclInvalidArgument);
    }
    int number;
    GIVES(ncclCommCount(comm, nullptr), ncclInvalidArgument);
    GIVES(ncclCommUserRank(nullptr, &number), ncclInvalidArgument);
    GIVES(ncclGetVersion(nullptr), ncclInvalidArgument);
    GIVES(ncclGetUniqueId(nullptr), ncclInvalidArgument);
    ncclComm_t other;
    GIVES(ncclCommSplit(comm, -2, 0, &other, nullptr), ncclInvalidArgument);
    // Who sends to itself receives in the same group.
    GIVES(ncclSend(values.at, 1, ncclInt, 0, comm, stream), ncclInvalidUsage);
    GIVES(ncclRecv(values.at, 1, ncclInt, 0, comm, stream), ncclInvalidUsage);
}

static void groups(ncclComm_t comm, cudaStream_t stream) {
    GIVES(ncclGroupEnd(), ncclInvalidUsage);
    // What has failed in a group keeps all of it from beginning.
    Array<int> values(std::vector<int>(10, 1));
    NCCL(ncclGroupStart());
    GIVES(ncclBroadcast(values.at, values.at, 10, ncclInt, 9, comm, stream), ncclInvalidArgument);
    NCCL(ncclAllReduce(values.at, values.at, 10, ncclInt, ncclSum, comm, stream));
    GIVES(ncclGroupEnd(), ncclInvalidArgument);
    GIVES(ncclGroupEnd(), ncclInvalidUsage);
    CHECK(values.values(stream) == std::vector<int>(10, 1));
}

static void initialisation() {
    ncclUniqueId id;
    NCCL(ncclGetUniqueId(&id));
    ncclComm_t comm, comms[2];
    GIVES(ncclCommInitRank(&comm, 0, id, 0), ncclInvalidArgument);
    GIVES(ncclCommInitRank(&comm, 2, id, 2), ncclInvalidArgument);
    GIVES(ncclCommInitRank(&comm, 2, id, -1), ncclInvalidArgument);
    GIVES(ncclCommInitRank(nullptr, 1, id, 0), ncclInvalidArgument);
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    config.magic = 0;
    GIVES(ncclCommInitRankConfig(&comm, 1, id, 0, &config), ncclInvalidArgument);
    config = NCCL_CONFIG_INITIALIZER;
    config.blocking = 2;
    GIVES(ncclCommInitRankConfig(&comm, 1, id, 0, &config), ncclInvalidArgument);
    int twice[] = {0, 0}, many[] = {0, 2};
    GIVES(ncclCommInitAll(comms, -1, nullptr), ncclInvalidArgument);
    GIVES(ncclCommInitAll(comms, 2, twice), ncclInvalidUsage);
    GIVES(ncclCommInitAll(comms, 2, many), ncclInvalidArgument);
    // Two ranks on one device.
    NCCL(ncclGroupStart());
    for (int rank = 0; rank < 2; rank++) NCCL(ncclCommInitRank(&comms[rank], 2, id, rank));
    GIVES(ncclGroupEnd(), ncclInvalidUsage);
    CHECK(!comms[0] && !comms[1]);
    // Ranks disagree about their number: one learns what is wrong, the other that it is another.
    NCCL(ncclGetUniqueId(&id));
    ncclResult_t results[2];
    std::thread other([&] { results[1] = ncclCommInitRank(&comms[1], 3, id, 1); });
    results[0] = ncclCommInitRank(&comms[0], 2, id, 0);
    other.join();
    CHECK((results[0] == ncclInvalidUsage) != (results[1] == ncclInvalidUsage));
    CHECK((results[0] == ncclRemoteError) != (results[1] == ncclRemoteError));
}

// A rank that waits for one that never comes.
static void aborted() {
    ncclComm_t comms[2];
    NCCL(ncclCommInitAll(comms, 2, nullptr));
    Array<float> values(std::vector<float>(1000));
    cudaStream_t stream;
    OK(cudaStreamCreate(&stream));
    NCCL(ncclAllReduce(values.at, values.at, 1000, ncclFloat, ncclSum, comms[0], stream));
    EXPECT(cudaStreamQuery(stream), cudaErrorNotReady);
    NCCL(ncclCommAbort(comms[0]));
    OK(cudaStreamSynchronize(stream));
    NCCL(ncclCommAbort(comms[1]));
    GIVES(ncclCommAbort(comms[1]), ncclInvalidArgument);
    OK(cudaStreamDestroy(stream));
}

int main() {
    int version;
    NCCL(ncclGetVersion(&version));
    CHECK(version == NCCL_VERSION_CODE);
    CHECK(!strcmp(ncclGetErrorString(ncclSuccess), "no error"));
    CHECK(!strcmp(ncclGetErrorString(ncclResult_t(99)), "unknown result code"));
    initialisation();
    ncclComm_t comms[2];
    NCCL(ncclCommInitAll(comms, 2, nullptr));
    cudaStream_t stream;
    OK(cudaStreamCreate(&stream));
    arguments(comms[0], stream);
    groups(comms[0], stream);
    NCCL(ncclCommFinalize(comms[0]));
    GIVES(ncclCommFinalize(comms[0]), ncclInvalidUsage);
    NCCL(ncclCommDestroy(nullptr));
    for (ncclComm_t comm : comms) NCCL(ncclCommDestroy(comm));
    GIVES(ncclCommDestroy(comms[0]), ncclInvalidArgument);
    aborted();
    // The program's own errors are untouched.
    OK(cudaGetLastError());
}

// Captured collectives and messages: nothing happens while they are captured, and each launch of
// the graph does them again, after the kernel before them and before the one after.
//# devices: 2 4
//# seeds: 3
#include "ranks.h"

__global__ void add(float *values, int count, float by) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at < count) values[at] += by;
}

static const int count = 5000, blocks = (count + 127) / 128;

static void body(Rank &rank) {
    int next = (rank.number + 1) % rank.count, before = (rank.number + rank.count - 1) % rank.count;
    Array<float> values(std::vector<float>(count, 1)), got(std::vector<float>(count, -1));
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    OK(cudaStreamBeginCapture(rank.stream, cudaStreamCaptureModeThreadLocal));
    add<<<blocks, 128, 0, rank.stream>>>(values.at, count, 1);
    NCCL(ncclAllReduce(values.at, values.at, count, ncclFloat, ncclMax, rank.comm, rank.stream));
    NCCL(ncclGroupStart());
    NCCL(ncclSend(values.at, count, ncclFloat, next, rank.comm, rank.stream));
    NCCL(ncclRecv(got.at, count, ncclFloat, before, rank.comm, rank.stream));
    NCCL(ncclGroupEnd());
    add<<<blocks, 128, 0, rank.stream>>>(got.at, count, float(rank.number));
    OK(cudaStreamEndCapture(rank.stream, &graph));
    CHECK(got.values(rank.stream) == std::vector<float>(count, -1));

    OK(cudaGraphInstantiate(&executable, graph, 0));
    for (int launch = 1; launch <= 20; launch++) {
        OK(cudaGraphLaunch(executable, rank.stream));
        if (launch % 7) continue;
        CHECK(values.values(rank.stream) == std::vector<float>(count, 1.f + launch));
        CHECK(got.values(rank.stream) == std::vector<float>(count, 1.f + launch + rank.number));
        // Between launches, the communicator is as usable as ever.
        Array<float> ones(std::vector<float>(10, 1));
        NCCL(ncclAllReduce(ones.at, ones.at, 10, ncclFloat, ncclSum, rank.comm, rank.stream));
        CHECK(ones.values(rank.stream) == std::vector<float>(10, rank.count));
    }
    CHECK(values.values(rank.stream) == std::vector<float>(count, 21));
    OK(cudaGraphExecDestroy(executable));
    OK(cudaGraphDestroy(graph));
}

int main() { in_threads(devices(), body); }

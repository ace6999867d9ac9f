// Random sequences of calls, the same on all ranks, on several communicators and streams, in groups
// or not, against the host.
//# devices: 3 4
//# seeds: 2
//# as: threads
//# as: processes
//# as: both
#include "values.h"
#include <random>

struct Random {
    std::mt19937 engine;
    size_t below(size_t end) { return engine() % end; }
};

// A communicator: its ranks as ranks of the whole.
struct Clique {
    ncclComm_t comm;
    int number;
    std::vector<int> members;
};

static std::vector<int> input(int rank, int call, size_t count) {
    std::vector<int> values(count);
    for (size_t at = 0; at < count; at++) values[at] = int((rank * 31 + call * 17 + at * 7) % 1000) - 500;
    return values;
}

struct Pending {
    std::shared_ptr<Array<int>> in, out;
    std::vector<int> expected;
    cudaStream_t stream;
    bool has_result;
};

static Pending call(Random &random, int number, const Clique &clique, cudaStream_t stream) {
    int ranks = clique.members.size(), own = clique.members[clique.number], root = random.below(ranks);
    size_t sizes[] = {random.below(40), random.below(4000), random.below(30000)}, count = sizes[random.below(3)];
    Pending pending = {nullptr, nullptr, {}, stream, true};
    auto &expected = pending.expected;
    auto prepare = [&](size_t in, size_t out) {
        pending.in = std::make_shared<Array<int>>(input(own, number, in));
        pending.out = std::make_shared<Array<int>>(std::vector<int>(out, 12345));
    };
    auto sum = [&](size_t size) {
        std::vector<int> all(size);
        for (int member : clique.members) {
            auto one = input(member, number, size);
            for (size_t at = 0; at < size; at++) all[at] += one[at];
        }
        return all;
    };
    auto part = [&](const std::vector<int> &all, size_t of) {
        return std::vector<int>(all.begin() + of * count, all.begin() + (of + 1) * count);
    };
    switch (random.below(8)) {
    case 0:
    case 1:
        prepare(count, count);
        expected = sum(count);
        NCCL(ncclAllReduce(pending.in->at, pending.out->at, count, ncclInt, ncclSum, clique.comm, stream));
        break;
    case 2:
        prepare(count * ranks, count);
        expected = part(sum(count * ranks), clique.number);
        NCCL(ncclReduceScatter(pending.in->at, pending.out->at, count, ncclInt, ncclSum, clique.comm, stream));
        break;
    case 3:
        prepare(count, count * ranks);
        for (int member : clique.members) {
            auto one = input(member, number, count);
            expected.insert(expected.end(), one.begin(), one.end());
        }
        NCCL(ncclAllGather(pending.in->at, pending.out->at, count, ncclInt, clique.comm, stream));
        break;
    case 4:
        prepare(count, count);
        expected = input(clique.members[root], number, count);
        NCCL(ncclBroadcast(pending.in->at, pending.out->at, count, ncclInt, root, clique.comm, stream));
        break;
    case 5:
        prepare(count, count);
        expected = sum(count);
        pending.has_result = clique.number == root;
        NCCL(ncclReduce(pending.in->at, pending.out->at, count, ncclInt, ncclSum, root, clique.comm, stream));
        break;
    case 6:
        prepare(count * ranks, count * ranks);
        for (int member : clique.members) {
            auto one = part(input(member, number, count * ranks), clique.number);
            expected.insert(expected.end(), one.begin(), one.end());
        }
        NCCL(ncclAlltoAll(pending.in->at, pending.out->at, count, ncclInt, clique.comm, stream));
        break;
    default: {
        // To the rank so many after.
        int away = 1 + random.below(ranks), to = (clique.number + away) % ranks;
        int from = (clique.number + ranks * 2 - away) % ranks;
        prepare(count, count);
        expected = input(clique.members[from], number, count);
        NCCL(ncclGroupStart());
        NCCL(ncclRecv(pending.out->at, count, ncclInt, from, clique.comm, stream));
        NCCL(ncclSend(pending.in->at, count, ncclInt, to, clique.comm, stream));
        NCCL(ncclGroupEnd());
    }
    }
    return pending;
}

static void body(Rank &rank) {
    // All ranks draw the same.
    Random random{std::mt19937(getenv("COMMSAN_GPU_SEED") ? atoi(getenv("COMMSAN_GPU_SEED")) + rank.count : 0)};
    std::vector<int> whole;
    for (int number = 0; number < rank.count; number++) whole.push_back(number);
    std::vector<Clique> cliques = {{rank.comm, rank.number, whole}};
    ncclComm_t backwards;
    NCCL(ncclCommSplit(rank.comm, 0, -rank.number, &backwards, nullptr));
    cliques.push_back({backwards, rank.count - 1 - rank.number, {whole.rbegin(), whole.rend()}});
    cudaStream_t streams[2] = {rank.stream};
    OK(cudaStreamCreate(&streams[1]));
    int number = 0;
    for (int round = 0; round < 30; round++) {
        std::vector<Pending> pending;
        bool grouped = random.below(3) == 0;
        // One communicator in a stream at a time, so that ranks cannot wait for each other
        // crosswise.
        size_t turn = random.below(2);
        if (grouped) NCCL(ncclGroupStart());
        for (size_t left = 1 + random.below(4); left; left--, number++) {
            size_t which = random.below(2);
            pending.push_back(call(random, number, cliques[which], streams[which ^ turn]));
        }
        if (grouped) NCCL(ncclGroupEnd());
        for (auto &one : pending) {
            auto got = one.out->values(one.stream);
            if (one.has_result) CHECK(got == one.expected);
        }
    }
    NCCL(ncclCommDestroy(backwards));
    OK(cudaStreamDestroy(streams[1]));
}

int main(int, char **arguments) { as_told(arguments, body); }

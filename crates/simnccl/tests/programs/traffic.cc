// What goes over each edge, to the byte: what the simulator sees kernels store into other devices'
// memory.
//# devices: 2 3 4 5
//# with: NCCL_ALGO=Ring
//# with: NCCL_ALGO=Tree
#include "values.h"
#include <dlfcn.h>
#include <map>
#include <mutex>
#include <string>

using Word = unsigned long long;

struct Access {
    Word at, size;
};

// What kernels of a rank access: values that they store, counts, whose stores are strong, and what
// they load.
struct Seen {
    std::vector<Access> values, counts, loads;
};
static Seen seen[8];

extern "C" bool wants(Word) { return true; }

extern "C" void touched(Word tag, bool write, Word address, Word size, const char *, unsigned,
                        unsigned strength) {
    Seen &rank = seen[tag - 1];
    (write ? strength ? rank.counts : rank.values : rank.loads).push_back({address, size});
}

using Edges = std::map<std::pair<int, int>, Word>;

// Adds the bytes that a rank accesses in memory of others.
static void add(Edges &edges, int rank, const std::vector<Access> &accesses) {
    for (auto &access : accesses) {
        cudaPointerAttributes attributes;
        OK(cudaPointerGetAttributes(&attributes, (void *)access.at));
        CHECK(attributes.type == cudaMemoryTypeDevice);
        if (attributes.device != rank) edges[{rank, attributes.device}] += access.size;
    }
}

using Collective = std::function<void(const Rank &, const float *, float *)>;

// What a collective stores, with room for `count` values of all ranks everywhere.
static void expect(const char *what, size_t count, const Collective &collective, Edges expected) {
    auto tag = (void (*)(Word))dlsym(RTLD_DEFAULT, "commsan_simgpu_tag");
    auto watch = (void (*)(decltype(&wants), decltype(&touched)))dlsym(RTLD_DEFAULT, "commsan_simgpu_watch");
    CHECK(tag && watch);
    watch(wants, touched);
    Edges got, counts, loads;
    std::mutex lock;
    in_threads(devices(), [&](Rank &rank) {
        Array<float> in(std::vector<float>(count * rank.count)), out(std::vector<float>(count * rank.count));
        tag(rank.number + 1);
        collective(rank, in.at, out.at);
        tag(0);
        OK(cudaStreamSynchronize(rank.stream));
        // While all of the memory is there.
        std::lock_guard<std::mutex> locked(lock);
        add(got, rank.number, seen[rank.number].values);
        add(counts, rank.number, seen[rank.number].counts);
        add(loads, rank.number, seen[rank.number].loads);
        seen[rank.number] = {};
    });
    watch(nullptr, nullptr);
    for (auto edge = expected.begin(); edge != expected.end();)
        edge = edge->second ? std::next(edge) : expected.erase(edge);
    if (got != expected) {
        printf("%s of %zu values:\n", what, count);
        for (auto &[edge, bytes] : expected) printf("expected %d to %d: %llu\n", edge.first, edge.second, bytes);
        for (auto &[edge, bytes] : got) printf("got %d to %d: %llu\n", edge.first, edge.second, bytes);
        exit(1);
    }
    // Who waits reads its own memory; counts go along each edge, and back along it.
    CHECK(loads.empty());
    for (auto &[edge, bytes] : got) CHECK(counts.count(edge) && counts.count({edge.second, edge.first}));
    for (auto &[edge, bytes] : counts) CHECK(got.count(edge) || got.count({edge.second, edge.first}));
}

// The part of a ring's all-reduce that a rank completes: whole 16 bytes.
static size_t part(size_t count, int ranks, int number) {
    size_t each = ((count + ranks - 1) / ranks + 3) / 4 * 4;
    return std::min(each * (number + 1), count) - std::min(each * number, count);
}

int main() {
    const int ranks = devices();
    const bool ring = !strcmp(getenv("NCCL_ALGO"), "Ring");
    const ncclDataType_t type = ncclFloat;
    auto each_next = [&](auto bytes) {
        Edges edges;
        for (int rank = 0; rank < ranks; rank++) edges[{rank, (rank + 1) % ranks}] = bytes(rank, (rank + 1) % ranks);
        return edges;
    };
    for (size_t count : {1, 10, 4000, 20003}) {
        const Word n = count * sizeof(float);
        Edges all_reduce;
        if (ring) {
            all_reduce = each_next([&](int rank, int next) {
                return 2 * n - sizeof(float) * (part(count, ranks, rank) + part(count, ranks, next));
            });
            // Where parts are equal, that is 2 n (p - 1) / p.
            if (count % (4 * ranks) == 0)
                for (auto &[edge, bytes] : all_reduce) CHECK(bytes == 2 * n * (ranks - 1) / ranks);
        } else {
            for (int rank = 0; rank + 1 < ranks; rank++)
                all_reduce[{rank, rank + 1}] = all_reduce[{rank + 1, rank}] = n;
        }
        expect("all-reduce", count, [=](const Rank &rank, const float *in, float *out) {
            NCCL(ncclAllReduce(in, out, count, type, ncclSum, rank.comm, rank.stream));
        }, all_reduce);
        expect("all-gather", count, [=](const Rank &rank, const float *in, float *out) {
            NCCL(ncclAllGather(in, out, count, type, rank.comm, rank.stream));
        }, each_next([&](int, int) { return n * (ranks - 1); }));
        expect("reduce-scatter", count, [=](const Rank &rank, const float *in, float *out) {
            NCCL(ncclReduceScatter(in, out, count, type, ncclSum, rank.comm, rank.stream));
        }, each_next([&](int, int) { return n * (ranks - 1); }));
        const int root = ranks - 1;
        expect("broadcast", count, [=](const Rank &rank, const float *in, float *out) {
            NCCL(ncclBroadcast(in, out, count, type, root, rank.comm, rank.stream));
        }, each_next([&](int, int next) { return next == root ? 0 : n; }));
        expect("reduce", count, [=](const Rank &rank, const float *in, float *out) {
            NCCL(ncclReduce(in, out, count, type, ncclSum, root, rank.comm, rank.stream));
        }, each_next([&](int rank, int) { return rank == root ? 0 : n; }));
        Edges all;
        for (int from = 0; from < ranks; from++)
            for (int to = 0; to < ranks; to++)
                if (from != to) all[{from, to}] = n;
        expect("all-to-all", count, [=](const Rank &rank, const float *in, float *out) {
            NCCL(ncclAlltoAll(in, out, count, type, rank.comm, rank.stream));
        }, all);
        expect("send", count, [=](const Rank &rank, const float *in, float *out) {
            if (rank.number == 0) NCCL(ncclSend(in, count, type, 1, rank.comm, rank.stream));
            if (rank.number == 1) NCCL(ncclRecv(out, count, type, 0, rank.comm, rank.stream));
        }, {{{0, 1}, n}});
    }
}

// Every collective gives what the host computes, whatever the type, the operation, the count, the
// root and whether it is in place; with ranks in threads, in processes, and by one thread in a
// group.
//# devices: 1 2 3 4
//# with: NCCL_ALGO=Ring NCCL_BUFFSIZE=4096
//# with: NCCL_ALGO=Tree
//# as: threads
//# as: processes
//# as: group
#include "values.h"
#include <memory>

static const ncclRedOp_t operations[] = {ncclSum, ncclProd, ncclMax, ncclMin, ncclAvg};

// A collective of a rank: begun, then checked.
struct Call {
    std::function<void()> begin, check;
};

template <typename T> struct Calls {
    Rank &rank;
    static constexpr ncclDataType_t type = Type<T>::datatype;

    static void check(const std::vector<T> &got, size_t from, size_t count, ncclRedOp_t op, int ranks,
                      const char *what) {
        for (size_t at = 0; at < count; at++)
            if (!is_near(got[at], reduced<T>(op, ranks, from + at), ranks)) {
                printf("%s of type %d, operation %d, %zu values, %d ranks: [%zu] is %g, not %g\n", what, type, op,
                       count, ranks, at, number(got[at]), reduced<T>(op, ranks, from + at));
                exit(1);
            }
    }

    Call all_reduce(size_t count, ncclRedOp_t op, bool in_place) {
        Rank rank = this->rank;
        auto in = std::make_shared<Array<T>>(values<T>(rank.number, count));
        auto out = in_place ? in : std::make_shared<Array<T>>(std::vector<T>(count));
        auto begin = [=] { NCCL(ncclAllReduce(in->at, out->at, count, type, op, rank.comm, rank.stream)); };
        return {begin, [=] { check(out->values(rank.stream), 0, count, op, rank.count, "all-reduce"); }};
    }
    Call reduce(size_t count, ncclRedOp_t op, int root, bool in_place) {
        Rank rank = this->rank;
        auto in = std::make_shared<Array<T>>(values<T>(rank.number, count));
        auto out = in_place ? in : std::make_shared<Array<T>>(std::vector<T>(count));
        bool has = rank.number == root;
        auto begin = [=] {
            NCCL(ncclReduce(in->at, has ? out->at : nullptr, count, type, op, root, rank.comm, rank.stream));
        };
        return {begin, [=] {
                    auto got = out->values(rank.stream);
                    if (has) check(got, 0, count, op, rank.count, "reduce");
                }};
    }
    Call reduce_scatter(size_t count, ncclRedOp_t op, bool in_place) {
        Rank rank = this->rank;
        size_t from = rank.number * count;
        auto in = std::make_shared<Array<T>>(values<T>(rank.number, count * rank.count));
        auto out = std::make_shared<Array<T>>(std::vector<T>(in_place ? 0 : count));
        T *to = in_place ? in->at + from : out->at;
        auto begin = [=] { NCCL(ncclReduceScatter(in->at, to, count, type, op, rank.comm, rank.stream)); };
        return {begin, [=] {
                    auto got = (in_place ? in : out)->values(rank.stream);
                    if (in_place) got = {got.begin() + from, got.begin() + from + count};
                    check(got, from, count, op, rank.count, "reduce-scatter");
                }};
    }
    // Moves compare bits.
    static void same(const std::vector<T> &got, const std::vector<T> &expected) {
        CHECK(got.size() == expected.size() && !memcmp(got.data(), expected.data(), got.size() * sizeof(T)));
    }
    static std::vector<T> of_all(const Rank &rank, size_t count) {
        std::vector<T> all;
        for (int other = 0; other < rank.count; other++) {
            auto next = values<T>(other, count);
            all.insert(all.end(), next.begin(), next.end());
        }
        return all;
    }
    Call all_gather(size_t count, bool in_place) {
        Rank rank = this->rank;
        std::vector<T> start(count * rank.count);
        auto own = values<T>(rank.number, count);
        if (in_place) std::copy(own.begin(), own.end(), start.begin() + rank.number * count);
        auto out = std::make_shared<Array<T>>(start);
        auto in = std::make_shared<Array<T>>(own);
        T *from = in_place ? out->at + rank.number * count : in->at;
        auto begin = [=] { NCCL(ncclAllGather(from, out->at, count, type, rank.comm, rank.stream)); };
        return {begin, [=] { (void)in; same(out->values(rank.stream), of_all(rank, count)); }};
    }
    Call broadcast(size_t count, int root, bool in_place) {
        Rank rank = this->rank;
        auto in = std::make_shared<Array<T>>(values<T>(rank.number, count));
        auto out = in_place ? in : std::make_shared<Array<T>>(std::vector<T>(count));
        auto begin = [=] {
            if (in_place) NCCL(ncclBcast(in->at, count, type, root, rank.comm, rank.stream));
            else NCCL(ncclBroadcast(in->at, out->at, count, type, root, rank.comm, rank.stream));
        };
        return {begin, [=] { same(out->values(rank.stream), values<T>(root, count)); }};
    }
    Call all_to_all(size_t count) {
        Rank rank = this->rank;
        auto in = std::make_shared<Array<T>>(values<T>(rank.number, count * rank.count));
        auto out = std::make_shared<Array<T>>(std::vector<T>(count * rank.count));
        auto begin = [=] { NCCL(ncclAlltoAll(in->at, out->at, count, type, rank.comm, rank.stream)); };
        return {begin, [=] {
                    (void)in;
                    std::vector<T> expected;
                    for (int other = 0; other < rank.count; other++) {
                        auto all = values<T>(other, count * rank.count);
                        auto first = all.begin() + rank.number * count;
                        expected.insert(expected.end(), first, first + count);
                    }
                    same(out->values(rank.stream), expected);
                }};
    }
    Call gather(size_t count, int root) {
        Rank rank = this->rank;
        auto in = std::make_shared<Array<T>>(values<T>(rank.number, count));
        auto out = std::make_shared<Array<T>>(std::vector<T>(count * rank.count));
        auto begin = [=] { NCCL(ncclGather(in->at, out->at, count, type, root, rank.comm, rank.stream)); };
        return {begin, [=] {
                    (void)in;
                    auto got = out->values(rank.stream);
                    if (rank.number == root) same(got, of_all(rank, count));
                }};
    }
    Call scatter(size_t count, int root) {
        Rank rank = this->rank;
        auto in = std::make_shared<Array<T>>(values<T>(rank.number, count * rank.count));
        auto out = std::make_shared<Array<T>>(std::vector<T>(count));
        auto begin = [=] { NCCL(ncclScatter(in->at, out->at, count, type, root, rank.comm, rank.stream)); };
        return {begin, [=] {
                    (void)in;
                    auto all = values<T>(root, count * rank.count);
                    auto first = all.begin() + rank.number * count;
                    same(out->values(rank.stream), {first, first + count});
                }};
    }

    // All of them, for one count.
    std::vector<Call> all(size_t count) {
        std::vector<Call> calls;
        int turn = 0;
        for (ncclRedOp_t op : operations) {
            bool in_place = turn++ % 2;
            calls.push_back(all_reduce(count, op, in_place));
            calls.push_back(all_reduce(count, op, !in_place));
            calls.push_back(reduce(count, op, turn % rank.count, in_place));
            calls.push_back(reduce_scatter(count, op, in_place));
        }
        for (bool in_place : {false, true}) {
            calls.push_back(all_gather(count, in_place));
            calls.push_back(broadcast(count, count % rank.count, in_place));
        }
        calls.push_back(all_to_all(count));
        calls.push_back(gather(count, rank.count - 1));
        calls.push_back(scatter(count, rank.count / 2));
        return calls;
    }
};

template <typename T> std::vector<Call> small_calls(Rank &rank) {
    std::vector<Call> calls;
    for (size_t count : {0, 6, 1003})
        for (auto &call : Calls<T>{rank}.all(count)) calls.push_back(call);
    return calls;
}

// By rank, the calls of all types.
static std::vector<std::vector<Call>> all_calls(Rank &rank) {
    std::vector<std::vector<Call>> calls = {
        small_calls<signed char>(rank),   small_calls<unsigned char>(rank), small_calls<int>(rank),
        small_calls<unsigned>(rank),      small_calls<long long>(rank),     small_calls<unsigned long long>(rank),
        small_calls<__half>(rank),        small_calls<float>(rank),         small_calls<double>(rank),
        small_calls<__nv_bfloat16>(rank), small_calls<__nv_fp8_e4m3>(rank), small_calls<__nv_fp8_e5m2>(rank),
    };
    // More than a queue has room for, as 1003 are of a small one.
    if (!getenv("NCCL_BUFFSIZE")) {
        Calls<float> floats{rank};
        const size_t many = 200'001;
        calls.push_back({floats.all_reduce(many, ncclSum, false), floats.reduce(many, ncclMin, 0, true),
                         floats.reduce_scatter(many, ncclAvg, false), floats.all_gather(many, false),
                         floats.broadcast(many, 0, false), floats.all_to_all(many)});
    }
    return calls;
}

static void alone(Rank &rank) {
    for (auto &calls : all_calls(rank)) {
        // Several are under way before any is waited for.
        for (auto &call : calls) call.begin();
        for (auto &call : calls) call.check();
    }
}

static void in_one_thread(int ranks) {
    std::vector<ncclComm_t> comms(ranks);
    NCCL(ncclCommInitAll(comms.data(), ranks, nullptr));
    std::vector<Rank> all(ranks);
    std::vector<std::vector<std::vector<Call>>> calls(ranks);
    for (int number = 0; number < ranks; number++) {
        OK(cudaSetDevice(number));
        all[number] = {number, ranks, comms[number], nullptr};
        OK(cudaStreamCreate(&all[number].stream));
        calls[number] = all_calls(all[number]);
    }
    OK(cudaSetDevice(0));
    for (size_t batch = 0; batch < calls[0].size(); batch++) {
        for (size_t call = 0; call < calls[0][batch].size(); call++) {
            NCCL(ncclGroupStart());
            for (auto &of_rank : calls) of_rank[batch][call].begin();
            NCCL(ncclGroupEnd());
        }
        for (auto &of_rank : calls)
            for (auto &call : of_rank[batch]) call.check();
    }
    calls.clear();
    for (auto &comm : comms) NCCL(ncclCommDestroy(comm));
}

int main(int, char **arguments) {
    if (!strcmp(arguments[1], "group")) in_one_thread(devices());
    else as_told(arguments, alone);
}

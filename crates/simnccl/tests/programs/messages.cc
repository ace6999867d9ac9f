// Sends and receives: exchanges in groups, with every peer and with oneself, in order, more than a
// kernel is given at once; and without a group where nothing has to go on together.
//# devices: 1 2 3 4
//# with: NCCL_BUFFSIZE=2048
//# as: threads
//# as: processes
//# as: both
#include "values.h"

// What a rank sends to another, as the n-th message.
static std::vector<int> message(int from, int to, int number, size_t count) {
    std::vector<int> values(count);
    for (size_t at = 0; at < count; at++) values[at] = from * 1000003 + to * 10007 + number * 101 + int(at);
    return values;
}

// Each rank sends to the next and receives from the one before.
static void ring(const Rank &rank, size_t count) {
    int next = (rank.number + 1) % rank.count, before = (rank.number + rank.count - 1) % rank.count;
    Array<int> out(message(rank.number, next, 0, count)), in{std::vector<int>(count)};
    NCCL(ncclGroupStart());
    NCCL(ncclSend(out.at, count, ncclInt, next, rank.comm, rank.stream));
    NCCL(ncclRecv(in.at, count, ncclInt, before, rank.comm, rank.stream));
    NCCL(ncclGroupEnd());
    CHECK(in.values(rank.stream) == message(before, rank.number, 0, count));
}

// Each rank sends `each` messages of different sizes to every rank, asked for in some order, and
// receives them.
static void all(const Rank &rank, int each, size_t count) {
    std::vector<std::unique_ptr<Array<int>>> outs, ins;
    std::vector<std::vector<int>> expected;
    NCCL(ncclGroupStart());
    for (int number = 0; number < each; number++)
        for (int step = 0; step < rank.count; step++) {
            int peer = (step * 3 + rank.number) % rank.count;
            if (rank.count == 3) peer = step;
            size_t to = count + 37 * number + peer, from = count + 37 * number + rank.number;
            outs.push_back(std::make_unique<Array<int>>(message(rank.number, peer, number, to)));
            ins.push_back(std::make_unique<Array<int>>(std::vector<int>(from)));
            expected.push_back(message(peer, rank.number, number, from));
            // Who receives first, and who sends first, differs.
            for (bool sends : {step % 2 == 0, step % 2 == 1})
                if (sends) NCCL(ncclSend(outs.back()->at, to, ncclInt, peer, rank.comm, rank.stream));
                else NCCL(ncclRecv(ins.back()->at, from, ncclInt, peer, rank.comm, rank.stream));
        }
    NCCL(ncclGroupEnd());
    for (size_t at = 0; at < ins.size(); at++) CHECK(ins[at]->values(rank.stream) == expected[at]);
}

// From rank to rank, without groups.
static void chain(const Rank &rank, size_t count) {
    Array<int> values(rank.number == 0 ? message(0, 1, 2, count) : std::vector<int>(count));
    if (rank.number > 0)
        NCCL(ncclRecv(values.at, count, ncclInt, rank.number - 1, rank.comm, rank.stream));
    if (rank.number + 1 < rank.count)
        NCCL(ncclSend(values.at, count, ncclInt, rank.number + 1, rank.comm, rank.stream));
    CHECK(values.values(rank.stream) == message(0, 1, 2, count));
}

// A group within a group begins with the outer one; nothing is sent where there is nothing.
static void nested(const Rank &rank) {
    int next = (rank.number + 1) % rank.count, before = (rank.number + rank.count - 1) % rank.count;
    Array<int> out(message(0, 0, 0, 5)), in(std::vector<int>(5));
    NCCL(ncclGroupStart());
    NCCL(ncclSend(out.at, 5, ncclInt, rank.number, rank.comm, rank.stream));
    NCCL(ncclGroupStart());
    NCCL(ncclRecv(in.at, 5, ncclInt, rank.number, rank.comm, rank.stream));
    NCCL(ncclSend(out.at, 0, ncclInt, next, rank.comm, rank.stream));
    NCCL(ncclRecv(in.at, 0, ncclInt, before, rank.comm, rank.stream));
    NCCL(ncclGroupEnd());
    CHECK(in.values(rank.stream) == std::vector<int>(5));
    NCCL(ncclGroupEnd());
    CHECK(in.values(rank.stream) == message(0, 0, 0, 5));
}

// Collectives and messages of a group all happen, and none need be grouped alike elsewhere.
static void mixed(const Rank &rank) {
    int next = (rank.number + 1) % rank.count, before = (rank.number + rank.count - 1) % rank.count;
    Array<int> out(message(rank.number, next, 0, 50)), in(std::vector<int>(50));
    Array<int> sum(std::vector<int>(9, 1)), product(std::vector<int>(9, 2));
    if (rank.number != 1) NCCL(ncclGroupStart());
    NCCL(ncclAllReduce(sum.at, sum.at, 9, ncclInt, ncclSum, rank.comm, rank.stream));
    NCCL(ncclAllReduce(product.at, product.at, 9, ncclInt, ncclProd, rank.comm, rank.stream));
    if (rank.number == 1) NCCL(ncclGroupStart());
    NCCL(ncclSend(out.at, 50, ncclInt, next, rank.comm, rank.stream));
    NCCL(ncclRecv(in.at, 50, ncclInt, before, rank.comm, rank.stream));
    NCCL(ncclGroupEnd());
    CHECK(in.values(rank.stream) == message(before, rank.number, 0, 50));
    CHECK(sum.values(rank.stream) == std::vector<int>(9, rank.count));
    CHECK(product.values(rank.stream) == std::vector<int>(9, 1 << rank.count));
}

static void body(Rank &rank) {
    for (size_t count : {1, 1000, 40000}) ring(rank, count);
    all(rank, 1, 300);
    all(rank, 150, 3);
    chain(rank, 5000);
    nested(rank);
    mixed(rank);
}

int main(int, char **arguments) { as_told(arguments, body); }

// What every program here uses: ranks as threads, as processes, or all in one thread.
#pragma once
#include "check.h"
#include <algorithm>
#include <csignal>
#include <functional>
#include <memory>
#include <nccl.h>
#include <string>
#include <sys/prctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

// Ends the program unless the call gives success.
#define NCCL(call) GIVES(call, ncclSuccess)

// Ends the program unless the call gives this result.
#define GIVES(call, expected)                                                                      \
    do {                                                                                           \
        ncclResult_t got_ = (call);                                                                \
        if (got_ != (expected)) {                                                                  \
            printf("%s:%d: %s is %s (%s), not %s\n", __FILE__, __LINE__, #call,                    \
                   ncclGetErrorString(got_), ncclGetLastError(nullptr),                            \
                   ncclGetErrorString(expected));                                                  \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

// A rank with its communicator, and a stream of its device, which is the current one where it is
// used.
struct Rank {
    int number, count;
    ncclComm_t comm;
    cudaStream_t stream;

    void begin(int of, int among, ncclUniqueId id) {
        number = of, count = among;
        OK(cudaSetDevice(number));
        OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
        NCCL(ncclCommInitRank(&comm, count, id, number));
    }
    void end() {
        NCCL(ncclCommDestroy(comm));
        OK(cudaStreamDestroy(stream));
    }
};

inline int devices() {
    int count;
    OK(cudaGetDeviceCount(&count));
    return count;
}

// Threads of this process for ranks from `first` up to before `end`, of so many.
inline void as_threads(int first, int end, int ranks, ncclUniqueId id, const std::function<void(Rank &)> &body) {
    std::vector<std::thread> threads;
    for (int number = first; number < end; number++)
        threads.emplace_back([=, &body] {
            Rank rank;
            rank.begin(number, ranks, id);
            body(rank);
            rank.end();
        });
    for (auto &thread : threads) thread.join();
}

// One process, one thread for each rank.
inline void in_threads(int ranks, const std::function<void(Rank &)> &body) {
    ncclUniqueId id;
    NCCL(ncclGetUniqueId(&id));
    as_threads(0, ranks, ranks, id, body);
}

// Processes with so many ranks each, or fewer. The runtime must not have been called before.
inline void in_processes(int ranks, const std::function<void(Rank &)> &body, int each = 1) {
    ncclUniqueId id;
    NCCL(ncclGetUniqueId(&id));
    std::vector<pid_t> children;
    for (int first = 0; first < ranks; first += each) {
        pid_t child = fork();
        if (child == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            as_threads(first, std::min(first + each, ranks), ranks, id, body);
            fflush(stdout);
            _exit(0);
        }
        children.push_back(child);
    }
    for (pid_t child : children) {
        int status;
        CHECK(waitpid(child, &status, 0) == child && status == 0);
    }
}

// As the program's arguments say: threads, processes, or processes of two threads; and how many
// ranks.
inline void as_told(char **arguments, const std::function<void(Rank &)> &body) {
    std::string how = arguments[1];
    int ranks = atoi(arguments[2]);
    if (how == "threads") in_threads(ranks, body);
    else in_processes(ranks, body, how == "both" ? 2 : 1);
}

// Device memory with values, and what is in it later.
template <typename T> struct Array {
    T *at;
    size_t size;

    explicit Array(const std::vector<T> &values) : size(values.size()) {
        OK(cudaMalloc(&at, (size + 1) * sizeof(T)));
        OK(cudaMemcpy(at, values.data(), size * sizeof(T), cudaMemcpyHostToDevice));
        // Streams that do not block do not wait for the copy.
        OK(cudaStreamSynchronize(nullptr));
    }
    Array(const Array &) = delete;
    ~Array() { OK(cudaFree(at)); }

    std::vector<T> values(cudaStream_t stream) const {
        std::vector<T> values(size);
        OK(cudaMemcpyAsync(values.data(), at, size * sizeof(T), cudaMemcpyDeviceToHost, stream));
        OK(cudaStreamSynchronize(stream));
        return values;
    }
};

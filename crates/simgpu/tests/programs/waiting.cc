// A host that waits without calling: for a function that a stream calls, for a byte in mapped
// memory.
#include "check.h"
#include <csignal>
#include <future>
#include <pthread.h>
#include <unistd.h>

static pthread_t main_;
static volatile sig_atomic_t signals;

// Signals of the program are for its own threads.
static void handler(int) {
    if (pthread_equal(pthread_self(), main_)) signals = signals + 1;
    else abort();
}

static void promise(void *data) { ((std::promise<int> *)data)->set_value(42); }

int main() {
    main_ = pthread_self();
    signal(SIGUSR1, handler);
    std::promise<int> kept;
    cudaStream_t s;
    OK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    OK(cudaLaunchHostFunc(s, promise, &kept));
    CHECK(kept.get_future().get() == 42);
    // A query that got as far as the function has it called.
    std::promise<int> asked;
    OK(cudaLaunchHostFunc(s, promise, &asked));
    cudaError_t status = cudaStreamQuery(s);
    CHECK(status == cudaSuccess || status == cudaErrorNotReady);
    CHECK(asked.get_future().get() == 42);
    OK(cudaStreamSynchronize(s));
    volatile char *flag;
    OK(cudaHostAlloc((void **)&flag, 1, cudaHostAllocMapped));
    *flag = 0;
    OK(cudaMemsetAsync((void *)flag, 1, 1, s));
    while (!*flag) {
    }
    OK(cudaStreamDestroy(s));
    for (int i = 0; i < 100; i++) kill(getpid(), SIGUSR1);
    CHECK(signals > 0);
}

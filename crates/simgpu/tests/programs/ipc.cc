// Two processes: one writes the other's device memory, and each waits for the other's events.
//# devices: 2
#include "check.h"
#include <csignal>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

struct Handles {
    cudaIpcMemHandle_t memory;
    cudaIpcEventHandle_t ready, done;
};

static void owner(int to, int from) {
    Handles handles;
    int *base, *p;
    cudaEvent_t ready, done;
    cudaStream_t s;
    OK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    OK(cudaMalloc(&base, 1000));
    OK(cudaMalloc(&p, 1 << 20));
    OK(cudaEventCreateWithFlags(&ready, cudaEventInterprocess | cudaEventDisableTiming));
    OK(cudaEventCreateWithFlags(&done, cudaEventInterprocess | cudaEventDisableTiming));
    OK(cudaIpcGetMemHandle(&handles.memory, p));
    OK(cudaIpcGetEventHandle(&handles.ready, ready));
    OK(cudaIpcGetEventHandle(&handles.done, done));
    EXPECT(cudaIpcOpenMemHandle((void **)&base, handles.memory, cudaIpcMemLazyEnablePeerAccess),
           cudaErrorDeviceUninitialized);
    OK(cudaMemsetAsync(p, 1, 1 << 20, s));
    OK(cudaEventRecord(ready, s));
    CHECK(write(to, &handles, sizeof handles) == sizeof handles);
    char byte;
    CHECK(read(from, &byte, 1) == 1);
    OK(cudaStreamWaitEvent(s, done, 0));
    int result = 0;
    OK(cudaMemcpyAsync(&result, p + 1000, sizeof result, cudaMemcpyDeviceToHost, s));
    OK(cudaStreamSynchronize(s));
    CHECK(result == 0x02020202);
    OK(cudaFree(p));
}

static void other(int to, int from) {
    Handles handles;
    CHECK(read(from, &handles, sizeof handles) == sizeof handles);
    int *p;
    cudaEvent_t ready, done;
    OK(cudaSetDevice(1));
    OK(cudaIpcOpenMemHandle((void **)&p, handles.memory, cudaIpcMemLazyEnablePeerAccess));
    OK(cudaIpcOpenEventHandle(&ready, handles.ready));
    OK(cudaIpcOpenEventHandle(&done, handles.done));
    cudaPointerAttributes a;
    OK(cudaPointerGetAttributes(&a, p));
    CHECK(a.type == cudaMemoryTypeDevice && a.device == 1);
    OK(cudaEventSynchronize(ready));
    OK(cudaEventQuery(ready));
    int result = 0;
    OK(cudaMemcpy(&result, p + 1000, sizeof result, cudaMemcpyDeviceToHost));
    CHECK(result == 0x01010101);
    OK(cudaMemset(p + 1000, 2, sizeof(int)));
    OK(cudaEventRecord(done));
    EXPECT(cudaMemset(p, 2, (1 << 20) + 1), cudaErrorInvalidValue);
    CHECK(write(to, "", 1) == 1);
    OK(cudaEventSynchronize(done));
    OK(cudaIpcCloseMemHandle(p));
    EXPECT(cudaIpcCloseMemHandle(p), cudaErrorInvalidValue);
}

int main() {
    int there[2], back[2], status = 1;
    CHECK(!pipe(there) && !pipe(back));
    pid_t child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        other(back[1], there[0]);
        return 0;
    }
    owner(there[1], back[0]);
    CHECK(waitpid(child, &status, 0) == child && status == 0);
}

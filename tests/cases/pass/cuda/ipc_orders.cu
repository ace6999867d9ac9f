// A rank waits for what it has put into device memory, and tells another one, in every way that
// there is.
#include <mpi.h>
#include <atomic>
#include <cstdio>

constexpr int N = 256;

__global__ void fill(int *p) { p[threadIdx.x] = 3; }

__global__ void sum(const int *p, int *result) {
  int total = 0;
  for (int i = 0; i < N; i++) total += p[i];
  *result = total;
}

static std::atomic<bool> has_run;

static void run(void *) { has_run = true; }

static int *p, host[N];
static cudaStream_t stream;
static cudaEvent_t event;
static MPI_Win window;

static void write_and_wait(int how) {
  if (how == 0) cudaMemcpy(p, host, sizeof host, cudaMemcpyHostToDevice);
  if (how == 0) return;
  fill<<<1, N, 0, stream>>>(p);
  switch (how) {
  case 1: cudaStreamSynchronize(stream); break;
  case 2: cudaDeviceSynchronize(); break;
  case 3:
    cudaEventRecord(event, stream);
    cudaEventSynchronize(event);
    break;
  case 4:
    while (cudaStreamQuery(stream) == cudaErrorNotReady) {
    }
    break;
  case 5:
    has_run = false;
    cudaLaunchHostFunc(stream, run, nullptr);
    while (!has_run) {
    }
    break;
  }
}

// What one rank has done comes before what the other does next.
static void tell(int how, int rank, int from) {
  int to = 1 - from, value = 1, total = 0, flag = 0;
  MPI_Request request;
  MPI_Status status;
  switch (how) {
  case 0:
    if (rank == from) MPI_Ssend(&value, 1, MPI_INT, to, 0, MPI_COMM_WORLD);
    else MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    break;
  case 1:
    if (rank == from) MPI_Isend(&value, 1, MPI_INT, to, 1, MPI_COMM_WORLD, &request);
    else MPI_Irecv(&value, 1, MPI_INT, from, 1, MPI_COMM_WORLD, &request);
    while (!flag) MPI_Test(&request, &flag, &status);
    break;
  case 2:
    if (rank == from) {
      MPI_Send(&value, 1, MPI_INT, to, 2, MPI_COMM_WORLD);
    } else {
      while (!flag) MPI_Iprobe(from, 2, MPI_COMM_WORLD, &flag, &status);
      MPI_Recv(&value, 1, MPI_INT, from, 2, MPI_COMM_WORLD, &status);
    }
    break;
  case 3:
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    while (!flag) MPI_Test(&request, &flag, &status);
    break;
  case 4: MPI_Win_fence(0, window); break;
  case 5: MPI_Reduce(&value, &total, 1, MPI_INT, MPI_SUM, to, MPI_COMM_WORLD); break;
  case 6: MPI_Bcast(&value, 1, MPI_INT, from, MPI_COMM_WORLD); break;
  }
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, bad = 0, *memory, *result;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  cudaEventCreate(&event);
  cudaMalloc(&result, sizeof *result);
  for (int &value : host) value = 3;
  cudaIpcMemHandle_t handle;
  if (rank == 0) {
    cudaMalloc(&p, N * sizeof *p);
    cudaIpcGetMemHandle(&handle, p);
  }
  MPI_Bcast(&handle, sizeof handle, MPI_BYTE, 0, MPI_COMM_WORLD);
  if (rank == 1) cudaIpcOpenMemHandle((void **)&p, handle, cudaIpcMemLazyEnablePeerAccess);

  for (int wait = 0; wait < 6; wait++)
    for (int how = 0; how < 7; how++) {
      if (rank == 0) write_and_wait(wait);
      tell(how, rank, 0);
      if (rank == 1) {
        int total;
        sum<<<1, 1, 0, stream>>>(p, result);
        cudaMemcpyAsync(&total, result, sizeof total, cudaMemcpyDeviceToHost, stream);
        cudaStreamSynchronize(stream);
        bad += total != 3 * N;
      }
      tell(how, rank, 1);
    }

  if (rank == 1) cudaIpcCloseMemHandle(p);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) cudaFree(p);
  MPI_Win_free(&window);
  if (bad) printf("%d sums are wrong\n", bad);
  MPI_Finalize();
  return bad != 0;
}

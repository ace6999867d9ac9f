// A thread that communicates waits for the event of a buffer, then sends it (rapidsmpf, issue
// 216).
//# mpi: openmpi
#include <mpi.h>
#include <cstdio>
#include <thread>

constexpr int N = 256;

__global__ void fill(int *p, int value) { p[threadIdx.x] = value; }

// Elements in device memory that have another value.
static int wrong(const int *p, int value) {
  static int host[N];
  cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost);
  int count = 0;
  for (int i = 0; i < N; i++) count += host[i] != value;
  return count;
}

struct Chunk {
  int *data;
  cudaEvent_t written;
};

static void progress(Chunk chunk, int to) {
  cudaEventSynchronize(chunk.written);
  MPI_Send(chunk.data, N, MPI_INT, to, 0, MPI_COMM_WORLD);
}

int main(int argc, char **argv) {
  int provided, rank, bad = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  cudaStream_t stream;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  int *source, *other;
  Chunk chunk;
  cudaEventCreateWithFlags(&chunk.written, cudaEventDisableTiming);
  cudaMalloc(&source, N * sizeof *source);
  cudaMalloc(&chunk.data, N * sizeof *chunk.data);
  cudaMalloc(&other, N * sizeof *other);
  fill<<<1, N>>>(source, 8);
  cudaMemset(chunk.data, 0, N * sizeof *chunk.data);
  cudaDeviceSynchronize();

  MPI_Request request;
  MPI_Irecv(other, N, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, &request);
  cudaMemcpyAsync(chunk.data, source, N * sizeof *source, cudaMemcpyDeviceToDevice, stream);
  cudaEventRecord(chunk.written, stream);
  std::thread(progress, chunk, 1 - rank).join();
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  cudaDeviceSynchronize();
  bad = wrong(other, 8);

  if (bad) printf("%d elements are wrong\n", bad);
  MPI_Finalize();
  return bad != 0;
}

// The host says by a flag that what it has received is there, but the kernel does not wait for
// that.
//# np: 2
//# mpi: openmpi
//# flags: -std=c++17
#include <mpi.h>
#include <cstdio>
#include <cuda/atomic>

constexpr int N = 256;
using Flag = cuda::atomic_ref<int, cuda::thread_scope_system>;

__global__ void add(int *p, int value) {
  p[threadIdx.x] += value;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, bad = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  cudaStream_t stream;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  int *p, *flag;
  cudaMallocManaged(&p, N * sizeof *p);
  cudaMallocHost(&flag, sizeof *flag);
  *flag = 0;
  for (int i = 0; i < N; i++) p[i] = 3;
  if (rank == 0) {
    MPI_Send(p, N, MPI_INT, 1, 0, MPI_COMM_WORLD);
  } else {
    MPI_Request request;
    MPI_Irecv(p, N, MPI_INT, 0, 0, MPI_COMM_WORLD, &request); //~ CS-GPU-04 operation
    add<<<1, N, 0, stream>>>(p, 1); //~ CS-GPU-04 access //~ CS-GPU-02 operation
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    p[7] = 5; //~ CS-GPU-02 access
    Flag(*flag).store(1, cuda::memory_order_release);
    cudaStreamSynchronize(stream);
    for (int i = 0; i < N; i++) bad += p[i] < 3 || p[i] > 6;
  }

  if (bad) printf("%d elements are wrong\n", bad);
  MPI_Finalize();
  return bad != 0;
}

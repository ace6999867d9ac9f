// An array comes with the stream in which it is made (CUDA Array Interface, version 3). Who takes
// it works on it in another stream, and asks that one only whether the work is done.
#include <mpi.h>
#include <cstdio>

constexpr int N = 256;

__global__ void fill(int *p, int value) { p[threadIdx.x] = value; }
__global__ void pack(int *to, const int *from) { to[threadIdx.x] = 2 * from[threadIdx.x]; }

// Elements in device memory that have another value.
static int wrong(const int *p, int value) {
  static int host[N];
  cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost);
  int count = 0;
  for (int i = 0; i < N; i++) count += host[i] != value;
  return count;
}

struct Exported {
  int *data;
  cudaStream_t stream;
};

// Sends twice the array around the ring.
static void send_twice(Exported array, int *other, int rank, int size) {
  static cudaStream_t own;
  static int *packed;
  if (!own) {
    cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking);
    cudaMalloc(&packed, N * sizeof *packed);
  }
  pack<<<1, N, 0, own>>>(packed, array.data); //~ CS-GPU-01 access
  cudaStreamSynchronize(own);
  int next = (rank + 1) % size, last = (rank + size - 1) % size;
  MPI_Sendrecv(packed, N, MPI_INT, next, 0, other, N, MPI_INT, last, 0, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, size, bad = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  Exported array;
  int *other;
  cudaStreamCreateWithFlags(&array.stream, cudaStreamNonBlocking);
  cudaMalloc(&array.data, N * sizeof *array.data);
  cudaMalloc(&other, N * sizeof *other);
  cudaMemset(array.data, 0, N * sizeof *array.data);
  cudaDeviceSynchronize();
  fill<<<1, N, 0, array.stream>>>(array.data, 7); //~ CS-GPU-01 operation
  send_twice(array, other, rank, size);
  cudaDeviceSynchronize();
  bad = wrong(other, 14);

  if (bad) printf("%d elements are wrong\n", bad);
  MPI_Finalize();
  return bad != 0;
}

// Jacobi iteration for the Laplace equation on a unit square, on devices.
//
// The rows of the grid are spread over the ranks, each of which has a device. Rows at the border to
// a neighbour are computed first, in a stream of their own, and sent while the others are computed.
// The boundary of the square is held at sin(pi x) above and below, and at 0 at the sides.
//
// -DBREAK=n leaves out the n-th synchronisation, see README.md.
#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

#ifndef BREAK
#define BREAK 0
#endif
// A synchronisation that can be left out.
#define SYNC(number, call) \
  if (BREAK != (number)) CUDA(call)

#define CUDA(call) check(call, #call, __LINE__)

static void check(cudaError_t error, const char *call, int line) {
  if (error == cudaSuccess) return;
  fprintf(stderr, "jacobi.cu:%d: %s: %s\n", line, call, cudaGetErrorString(error));
  MPI_Abort(MPI_COMM_WORLD, 1);
}

constexpr int THREADS = 64;

// Computes `count` rows of `next`, each `stride` after the other, and adds up the squares of the
// changes.
__global__ void relax(double *next, const double *now, int nx, int first, int count, int stride,
                      double *change) {
  int column = blockIdx.x * blockDim.x + threadIdx.x;
  int row = first + blockIdx.y * stride;
  double square = 0;
  if (column > 0 && column < nx - 1 && blockIdx.y < count) {
    size_t at = static_cast<size_t>(row) * nx + column;
    next[at] = 0.25 * (now[at - nx] + now[at + nx] + now[at - 1] + now[at + 1]);
    square = (next[at] - now[at]) * (next[at] - now[at]);
  }
  // One sum for each warp.
  for (int lanes = 16; lanes > 0; lanes /= 2) square += __shfl_down_sync(~0u, square, lanes);
  if (threadIdx.x % 32 == 0) atomicAdd(change, square);
}

// The rows of one rank and its neighbours' above and below, or those of the boundary.
struct Part {
  int rows, begin, above, below;
};

static Part part_of(int rank, int size, int ny) {
  int inner = ny - 2, each = inner / size, more = inner % size;
  Part part;
  part.rows = each + (rank < more);
  part.begin = 1 + rank * each + std::min(rank, more);
  part.above = rank > 0 ? rank - 1 : MPI_PROC_NULL;
  part.below = rank < size - 1 ? rank + 1 : MPI_PROC_NULL;
  return part;
}

static std::vector<double> initial(int nx, int ny) {
  std::vector<double> grid(static_cast<size_t>(nx) * ny, 0.0);
  for (int i = 0; i < nx; i++) {
    double value = sin(M_PI * i / (nx - 1));
    grid[i] = grid[static_cast<size_t>(ny - 1) * nx + i] = value;
  }
  return grid;
}

// The whole grid on the host, and the square of its last change.
static std::vector<double> reference(int nx, int ny, int steps, double *change) {
  std::vector<double> now = initial(nx, ny), next = now;
  for (int step = 0; step < steps; step++) {
    *change = 0;
    for (int j = 1; j < ny - 1; j++) {
      for (int i = 1; i < nx - 1; i++) {
        size_t at = static_cast<size_t>(j) * nx + i;
        next[at] = 0.25 * (now[at - nx] + now[at + nx] + now[at - 1] + now[at + 1]);
        *change += (next[at] - now[at]) * (next[at] - now[at]);
      }
    }
    std::swap(now, next);
  }
  return now;
}

// Sends the outermost rows to the neighbours and receives theirs.
static void exchange(double *grid, int nx, const Part &part) {
  double *first = grid + nx, *last = grid + static_cast<size_t>(part.rows) * nx;
  MPI_Sendrecv(first, nx, MPI_DOUBLE, part.above, 0, last + nx, nx, MPI_DOUBLE, part.below, 0,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Sendrecv(last, nx, MPI_DOUBLE, part.below, 1, grid, nx, MPI_DOUBLE, part.above, 1,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, size, devices;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int nx = argc > 1 ? atoi(argv[1]) : 48, ny = argc > 2 ? atoi(argv[2]) : 32;
  int steps = argc > 3 ? atoi(argv[3]) : 40;
  if (nx < 3 || ny - 2 < 2 * size || steps < 1) {
    if (rank == 0) fprintf(stderr, "usage: jacobi [NX [NY [STEPS]]], two rows or more for each rank\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  CUDA(cudaGetDeviceCount(&devices));
  CUDA(cudaSetDevice(rank % devices));

  Part part = part_of(rank, size, ny);
  size_t bytes = static_cast<size_t>(part.rows + 2) * nx * sizeof(double);
  double *now, *next, *change, *result, *host_change;
  CUDA(cudaMalloc(&now, bytes));
  CUDA(cudaMalloc(&next, bytes));
  CUDA(cudaMalloc(&change, sizeof *change));
  CUDA(cudaMallocHost(&result, bytes));
  CUDA(cudaMallocHost(&host_change, sizeof *host_change));
  cudaStream_t inner, edges;
  cudaEvent_t cleared;
  CUDA(cudaStreamCreateWithFlags(&inner, cudaStreamNonBlocking));
  CUDA(cudaStreamCreateWithFlags(&edges, cudaStreamNonBlocking));
  CUDA(cudaEventCreateWithFlags(&cleared, cudaEventDisableTiming));

  std::vector<double> start = initial(nx, ny);
  const double *own = start.data() + static_cast<size_t>(part.begin - 1) * nx;
  CUDA(cudaMemcpy(now, own, bytes, cudaMemcpyHostToDevice));
  CUDA(cudaMemcpy(next, own, bytes, cudaMemcpyHostToDevice));
  CUDA(cudaDeviceSynchronize());

  double norm = 0, begin = MPI_Wtime();
  unsigned across = (nx + THREADS - 1) / THREADS;
  for (int step = 0; step < steps; step++) {
    CUDA(cudaMemsetAsync(change, 0, sizeof *change, inner));
    CUDA(cudaEventRecord(cleared, inner));
    SYNC(1, cudaStreamWaitEvent(edges, cleared, 0));

    relax<<<dim3(across, 2), THREADS, 0, edges>>>(next, now, nx, 1, 2, part.rows - 1, change);
    if (part.rows > 2) {
      relax<<<dim3(across, part.rows - 2), THREADS, 0, inner>>>(next, now, nx, 2, part.rows - 2, 1, change);
    }
    CUDA(cudaGetLastError());

    SYNC(2, cudaStreamSynchronize(edges));
    exchange(next, nx, part);

    // Of the sum, which both streams add to; at once if the edges have been waited for above.
    CUDA(cudaStreamSynchronize(edges));
    CUDA(cudaMemcpyAsync(host_change, change, sizeof *change, cudaMemcpyDeviceToHost, inner));
    SYNC(3, cudaStreamSynchronize(inner));
    MPI_Allreduce(host_change, &norm, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    std::swap(now, next);
  }
  double end = MPI_Wtime();

  CUDA(cudaMemcpyAsync(result, now, bytes, cudaMemcpyDeviceToHost, inner));
  SYNC(4, cudaStreamSynchronize(inner));
  double error = 0, worst, expected_norm;
  std::vector<double> expected = reference(nx, ny, steps, &expected_norm);
  for (int j = 1; j <= part.rows; j++) {
    for (int i = 0; i < nx; i++) {
      size_t at = static_cast<size_t>(j) * nx + i;
      error = std::max(error, fabs(result[at] - expected[at + static_cast<size_t>(part.begin - 1) * nx]));
    }
  }
  MPI_Allreduce(&error, &worst, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  bool right = worst < 1e-12 && fabs(norm - expected_norm) < 1e-9 * expected_norm;
  if (rank == 0) {
    printf("%d steps, last change %.3e, error %.1e: %s\n", steps, sqrt(norm), worst, right ? "right" : "WRONG");
    printf("time loop %.4f s\n", end - begin);
  }

  CUDA(cudaDeviceSynchronize());
  CUDA(cudaEventDestroy(cleared));
  CUDA(cudaStreamDestroy(inner));
  CUDA(cudaStreamDestroy(edges));
  CUDA(cudaFreeHost(host_change));
  CUDA(cudaFreeHost(result));
  CUDA(cudaFree(change));
  CUDA(cudaFree(next));
  CUDA(cudaFree(now));
  MPI_Finalize();
  return !right;
}

// Jacobi's method in two dimensions, whose rows are divided among the PEs of a ring: one kernel for
// each step computes, puts its first and last row to its neighbours, and waits for theirs. Each
// first row goes one row too far: there is one halo row, not two.
//# gpu: 2
//# flags: -lnvshmem_host
#define NVSHMEM_IN_KERNELS
#include "../../../headers/nvshmem.h"
#include <mpi.h>
#include <cmath>
#include <cstdio>
#include <vector>

constexpr int WIDTH = 66, ROWS = 8, STEPS = 10;

__global__ void relax(float *out, const float *in, uint64_t *arrived, int step) {
  int me = nvshmem_my_pe(), pes = nvshmem_n_pes(), above = (me + pes - 1) % pes, below = (me + 1) % pes;
  for (int row = 1; row <= ROWS; row++) {
    for (int column = 1 + (int)threadIdx.x; column < WIDTH - 1; column += (int)blockDim.x) {
      const float *at = in + row * WIDTH + column;
      out[row * WIDTH + column] = (at[-1] + at[1] + at[-WIDTH] + at[WIDTH]) / 4;
    }
  }
  __syncthreads();
  for (int column = (int)threadIdx.x; column < WIDTH; column += (int)blockDim.x) {
    nvshmem_float_p(out + (ROWS + 2) * WIDTH + column, out[WIDTH + column], above);
  }
  nvshmem_quiet();
  nvshmemx_float_put_signal_nbi_block(out, out + ROWS * WIDTH, WIDTH, &arrived[0], step, NVSHMEM_SIGNAL_SET, below);
  if (threadIdx.x == 0) {
    nvshmemx_signal_op(&arrived[1], step, NVSHMEM_SIGNAL_SET, above);
    nvshmem_signal_wait_until(&arrived[0], NVSHMEM_CMP_GE, step);
    nvshmem_signal_wait_until(&arrived[1], NVSHMEM_CMP_GE, step);
  }
}

static float start(int row, int column) { return (float)((row * 7 + column * 3) % 11); }

// The whole field, on the host.
static std::vector<float> expected(int rows) {
  std::vector<float> now(rows * WIDTH), next;
  for (int at = 0; at < rows * WIDTH; at++) now[at] = start(at / WIDTH, at % WIDTH);
  for (int step = 0; step < STEPS; step++) {
    next = now;
    for (int row = 0; row < rows; row++) {
      const float *above = &now[(row + rows - 1) % rows * WIDTH], *below = &now[(row + 1) % rows * WIDTH];
      const float *here = &now[row * WIDTH];
      for (int column = 1; column < WIDTH - 1; column++) {
        next[row * WIDTH + column] = (here[column - 1] + here[column + 1] + above[column] + below[column]) / 4;
      }
    }
    now = next;
  }
  return now;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  cudaSetDevice(rank);
  nvshmem_init();
  constexpr size_t SIZE = (ROWS + 2) * WIDTH * sizeof(float);
  float *fields[2];
  for (float *&field : fields) field = (float *)nvshmem_malloc(SIZE); //~ CS-SHM-02 operation
  uint64_t *arrived = (uint64_t *)nvshmem_calloc(2, sizeof(uint64_t));
  std::vector<float> own((ROWS + 2) * WIDTH);
  for (int row = 0; row < ROWS + 2; row++) {
    int everywhere = (rank * ROWS + row - 1 + ranks * ROWS) % (ranks * ROWS);
    for (int column = 0; column < WIDTH; column++) own[row * WIDTH + column] = start(everywhere, column);
  }
  for (float *field : fields) cudaMemcpy(field, own.data(), SIZE, cudaMemcpyHostToDevice);
  nvshmem_barrier_all();
  for (int step = 1; step <= STEPS; step++) {
    relax<<<1, 32>>>(fields[step % 2], fields[1 - step % 2], arrived, step); //~ CS-SHM-02 access
  }
  cudaDeviceSynchronize();
  nvshmem_barrier_all();
  cudaMemcpy(own.data(), fields[STEPS % 2], SIZE, cudaMemcpyDeviceToHost);
  std::vector<float> right = expected(ranks * ROWS);
  bool differs = false;
  for (int at = 0; at < ROWS * WIDTH; at++) {
    differs |= std::fabs(own[WIDTH + at] - right[rank * ROWS * WIDTH + at]) > 1e-4f;
  }
  if (differs) printf("PE %d has wrong values\n", rank);
  nvshmem_finalize();
  MPI_Finalize();
  return 0;
}

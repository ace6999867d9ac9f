// A thread fills a buffer before another one sends it: a function of the region's, that is not
// inlined. LLVM's runtime.
//# flags: -fopenmp -Wl,-rpath,/usr/lib/llvm-19/lib
//# cc: clang
#include <mpi.h>
#include <omp.h>
#include <stdio.h>
#include <unistd.h>

static int told, in[256], out[256];

__attribute__((noinline)) static void store(int *at, int value) {
  *at = value; //~ CS-BUF-01 access
}

__attribute__((noinline)) static void fill(int *to, int count, int value) {
  for (int i = 0; i < count; i++) to[i] = value + i; //~ CS-BUF-01 access
}

int main(int argc, char **argv) {
  int provided, rank;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
#pragma omp parallel num_threads(2)
  {
    if (omp_get_thread_num() == 1) {
      fill(out, 128, rank);
      store(&out[200], rank);
      __atomic_store_n(&told, 1, __ATOMIC_RELAXED);
    } else {
      while (!__atomic_load_n(&told, __ATOMIC_RELAXED)) usleep(10);
      MPI_Sendrecv(out, 256, MPI_INT, 1 - rank, 0, in, 256, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ CS-BUF-01 operation
    }
  }
  printf("%d\n", in[5]);
  MPI_Finalize();
  return 0;
}

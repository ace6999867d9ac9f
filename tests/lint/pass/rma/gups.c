// Batches of updates, each put from its row of a table once the row is full. A
// flush lies between each put and the next use of its row.
#include <mpi.h>
#include <stdint.h>
#include <stdlib.h>
enum { A = 8 };
static int mode;
static int is_flush_mode(void) { return mode == 1; }
static uint64_t next(uint64_t x) { return x << 1 ^ ((int64_t)x < 0 ? 7 : 0); }
int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  mode = argc > 1 ? atoi(argv[1]) : 1;
  uint64_t *base;
  MPI_Win upd;
  MPI_Win_allocate(1024 * sizeof(uint64_t), sizeof(uint64_t), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &upd);
  uint64_t *T = malloc(size * A * sizeof *T);
  int *counter = calloc(size, sizeof *counter);
  MPI_Win_lock_all(0, upd);
  uint64_t ran = rank + 1;
  for (int batch = 0; batch < 4; batch++) {
    for (int x = 0; x < 100; x++) {
      ran = next(ran);
      int target = ran % size;
      if (target != rank) {
        T[target * A + counter[target]] = ran;
        counter[target]++;
        if (counter[target] == A) {
          uint64_t *pa = T + target * A;
          *pa = A - 1;
          MPI_Put(pa, A, MPI_UINT64_T, target, rank * A, A, MPI_UINT64_T, upd);
          counter[target] = 1;
          if (is_flush_mode())
            MPI_Win_flush(target, upd);
          else
            MPI_Win_flush_local(target, upd);
        }
      }
    }
  }
  MPI_Win_unlock_all(upd);
  free(T);
  free(counter);
  MPI_Win_free(&upd);
  MPI_Finalize();
  return 0;
}

// One rank takes the mutex that guards the sum, the others do not.
//# np: 3
#include <mpi.h>
#include <stdio.h>
#include <pthread.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int right = (rank + 1) % size;

  struct guarded {
    pthread_mutex_t mutex;
    long sum;
  } *guarded;
  MPI_Win win;
  MPI_Aint bytes;
  int unit;
  MPI_Win_allocate_shared(rank ? 0 : sizeof *guarded, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &guarded, &win);
  MPI_Win_shared_query(win, 0, &bytes, &unit, &guarded);
  if (rank == 0) {
    pthread_mutexattr_t shared;
    pthread_mutexattr_init(&shared);
    pthread_mutexattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
    pthread_mutex_init(&guarded->mutex, &shared);
    guarded->sum = 0;
  }
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < 100; i++) {
    if (rank == 0)
      pthread_mutex_lock(&guarded->mutex);
    guarded->sum += right; //~ CS-RMA-06 access //~ CS-RMA-06 operation
    if (rank == 0)
      pthread_mutex_unlock(&guarded->mutex);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  long sum = guarded->sum;
  MPI_Barrier(MPI_COMM_WORLD);
  printf("%ld\n", sum);

  MPI_Win_free(&win);
  MPI_Finalize();
  return 0;
}

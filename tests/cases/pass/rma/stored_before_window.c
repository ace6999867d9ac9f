// What the owner stores before it makes a window comes before all operations on it, also if the
// memory already belongs to another window.
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  static int memory[4], out = 7;
  MPI_Win first, second;
  MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &first);
  memory[1] = 3;
  MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &second);

  if (rank == 0) {
    MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, second);
    MPI_Put(&out, 1, MPI_INT, 1, 1, 1, MPI_INT, second);
    MPI_Win_unlock(1, second);
  }
  MPI_Barrier(MPI_COMM_WORLD);

  MPI_Win_free(&second);
  MPI_Win_free(&first);
  MPI_Finalize();
  return rank != 1 || memory[1] == 7 ? 0 : 1;
}

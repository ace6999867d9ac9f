// Thousands of collectives, of communicators that come and go, some ranks far ahead of others.
//# np: 3
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, value = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < 3000; i++) {
    value = rank == 0 ? i : -1;
    MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (value != i) return 1;
  }
  for (int i = 0; i < 60; i++) {
    MPI_Comm comm, part;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_split(comm, rank == i % 3, 0, &part);
    if (i % 2) MPI_Barrier(part);
    if (i % 3) MPI_Bcast(&value, 1, MPI_INT, i % 2, comm);
    MPI_Comm_free(&part);
    if (i % 5 == 0) MPI_Barrier(MPI_COMM_WORLD);
    MPI_Comm_free(&comm);
  }
  MPI_Finalize();
  return 0;
}

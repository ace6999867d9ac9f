/* Handles that another function frees, which is given the address of the variable, after their last
   use or before the variable holds another one. */
#include <mpi.h>

static int data[8];

static void leave(MPI_Comm *comm) {
  MPI_Comm_free(comm);
}

static void drop(MPI_Datatype *type, const char **what) {
  *what = "a type";
  MPI_Type_free(type);
}

static void maybe_leave(MPI_Comm *comm, int is_last) {
  if (is_last)
    MPI_Comm_free(comm);
}

int main(int argc, char **argv) {
  MPI_Comm comm, kept;
  MPI_Datatype pair;
  const char *what;
  MPI_Init(&argc, &argv);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  leave(&comm);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Bcast(data, 8, MPI_INT, 0, comm);
  leave(&comm);
  if (comm != MPI_COMM_NULL)
    MPI_Barrier(comm);
  MPI_Type_contiguous(2, MPI_INT, &pair);
  MPI_Type_commit(&pair);
  MPI_Bcast(data, 1, pair, 0, MPI_COMM_WORLD);
  drop(&pair, &what);
  MPI_Comm_dup(MPI_COMM_WORLD, &kept);
  maybe_leave(&kept, argc > 100);
  MPI_Barrier(kept);
  maybe_leave(&kept, 1);
  MPI_Finalize();
  return what[0] == 0;
}

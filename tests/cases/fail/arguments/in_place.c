/* MPI_IN_PLACE for buffers that no rank may leave out. */
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  double one = rank, *all = calloc(size, sizeof *all), *sums = calloc(size, sizeof *sums);
  MPI_Request request;
  MPI_Allreduce(&one, MPI_IN_PLACE, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);  //~ CS-ARG-01 operation
  MPI_Allgather(&one, 1, MPI_DOUBLE, MPI_IN_PLACE, 1, MPI_DOUBLE, MPI_COMM_WORLD);  //~ CS-ARG-01 operation
  MPI_Alltoall(all, 1, MPI_DOUBLE, MPI_IN_PLACE, 1, MPI_DOUBLE, MPI_COMM_WORLD);  //~ CS-ARG-01 operation
  MPI_Scan(&one, MPI_IN_PLACE, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);  //~ CS-ARG-01 operation
  if (MPI_Iallreduce(&one, MPI_IN_PLACE, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD, &request) == MPI_SUCCESS)  //~ CS-ARG-01 operation
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Reduce_local(MPI_IN_PLACE, &one, 0, MPI_DOUBLE, MPI_SUM);
  free(sums);
  free(all);
  MPI_Finalize();
  return 0;
}

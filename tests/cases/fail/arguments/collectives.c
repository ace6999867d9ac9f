// Collectives with roots, operations and types that do not exist.
#include <mpi.h>

int main(int argc, char **argv) {
  int rank, size, value = 0, sum = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm none;
  MPI_Comm_split(MPI_COMM_WORLD, MPI_UNDEFINED, 0, &none);

  MPI_Bcast(&value, 1, MPI_INT, size, MPI_COMM_WORLD); //~ CS-ARG-01 operation ranks=0,1
  MPI_Reduce(&value, &sum, 1, MPI_INT, MPI_SUM, -5, MPI_COMM_WORLD); //~ CS-ARG-01 operation ranks=0,1
  MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_OP_NULL, MPI_COMM_WORLD); //~ CS-ARG-01 operation ranks=0,1
  MPI_Scan(&value, &sum, 1, MPI_INT, MPI_REPLACE, MPI_COMM_SELF); //~ CS-ARG-01 operation ranks=0,1
  MPI_Allgather(&value, 1, MPI_DATATYPE_NULL, &sum, 1, MPI_INT, MPI_COMM_SELF); //~ CS-ARG-01 operation ranks=0,1
  MPI_Barrier(none); //~ CS-ARG-01 operation ranks=0,1
  MPI_Finalize();
  return 0;
}

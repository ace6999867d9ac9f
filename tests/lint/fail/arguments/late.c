// A datatype that is committed after its first use, and a communicator that a function frees which
// knows the variable.
#include <mpi.h>

static MPI_Comm work;

static void end_work(void) { MPI_Comm_free(&work); }

int main(int argc, char **argv) {
  int values[8] = {0};
  MPI_Datatype column;
  MPI_Init(&argc, &argv);
  MPI_Type_vector(2, 1, 4, MPI_INT, &column); //~ CS-ARG-02 cause
  MPI_Bcast(values, 1, column, 0, MPI_COMM_WORLD); //~ CS-ARG-02 operation
  MPI_Type_commit(&column); //~ CS-ARG-02 cause
  MPI_Bcast(values, 1, column, 0, MPI_COMM_WORLD);
  MPI_Type_free(&column);
  MPI_Comm_dup(MPI_COMM_WORLD, &work);
  end_work(); //~ CS-ARG-01 release
  MPI_Barrier(work); //~ CS-ARG-01 operation
  MPI_Finalize();
  return 0;
}

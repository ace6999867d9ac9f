// Datatypes that are committed before their first use, one made of another, and a communicator made
// anew in a global variable.
#include <mpi.h>

static MPI_Comm work;

static void begin_work(void) { MPI_Comm_dup(MPI_COMM_WORLD, &work); }
static void end_work(void) { MPI_Comm_free(&work); }

int main(int argc, char **argv) {
  int values[32] = {0};
  MPI_Datatype column, block;
  MPI_Init(&argc, &argv);
  MPI_Type_vector(2, 1, 4, MPI_INT, &column);
  MPI_Type_contiguous(2, column, &block);
  MPI_Type_commit(&block);
  MPI_Bcast(values, 1, block, 0, MPI_COMM_WORLD);
  if (argc > 1)
    MPI_Type_commit(&column);
  if (argc > 1)
    MPI_Bcast(values, 1, column, 0, MPI_COMM_WORLD);
  MPI_Type_free(&column);
  MPI_Type_free(&block);
  begin_work();
  MPI_Barrier(work);
  end_work();
  begin_work();
  MPI_Barrier(work);
  end_work();
  MPI_Finalize();
  return 0;
}

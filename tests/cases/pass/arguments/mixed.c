// Each member of a record is accumulated by itself.
//# mpi: openmpi
#include <mpi.h>

typedef struct { double value; int count; } Record;

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  static Record records[4];
  Record own = {1.5, rank};
  MPI_Win win;
  MPI_Datatype type, members[2] = {MPI_DOUBLE, MPI_INT};
  MPI_Type_create_struct(2, (int[]){1, 1}, (MPI_Aint[]){0, 8}, members, &type);
  MPI_Type_commit(&type);
  MPI_Win_create(records, sizeof records, sizeof(Record), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
  MPI_Win_fence(0, win);
  MPI_Accumulate(&own.value, 1, MPI_DOUBLE, 1 - rank, 2, 1, MPI_DOUBLE, MPI_REPLACE, win);
  MPI_Put(&own, 1, type, 1 - rank, 1, 1, type, win);
  MPI_Win_fence(0, win);
  MPI_Type_free(&type);
  MPI_Win_free(&win);
  MPI_Finalize();
  return 0;
}

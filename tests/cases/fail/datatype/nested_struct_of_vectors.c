// Rows of one field and a column of another in one message; the column's end is written.
#include <mpi.h>
#include <stddef.h>

enum { N = 5 };

typedef struct {
  double pressure[N][N];
  int flags[N][N];
} state;

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  static state s;
  static double in[64];
  MPI_Datatype row, column, message;
  MPI_Type_contiguous(N, MPI_DOUBLE, &row);
  MPI_Type_vector(N, 1, N, MPI_INT, &column);
  int lengths[3] = {1, 1, 1};
  MPI_Aint at[3] = {offsetof(state, pressure), offsetof(state, pressure[3]), offsetof(state, flags[0][4])};
  MPI_Datatype types[3] = {row, row, column};
  MPI_Type_create_struct(3, lengths, at, types, &message);
  MPI_Type_commit(&message);
  MPI_Type_free(&row);
  MPI_Type_free(&column);
  s.pressure[3][4] = 7;
  MPI_Request request;
  MPI_Isend(&s, 1, message, peer, 0, MPI_COMM_WORLD, &request); //~ CS-BUF-01 operation
  s.flags[4][4] = 1; //~ CS-BUF-01 access
  MPI_Datatype plain;
  int counts[2] = {2 * N, N};
  MPI_Aint places[2] = {0, 2 * N * sizeof(double)};
  MPI_Datatype kinds[2] = {MPI_DOUBLE, MPI_INT};
  MPI_Type_create_struct(2, counts, places, kinds, &plain);
  MPI_Type_commit(&plain);
  MPI_Recv(in, 1, plain, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Type_free(&plain);
  MPI_Type_free(&message);

  MPI_Finalize();
  return 0;
}

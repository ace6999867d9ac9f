// Two strided receives interleave: one takes the even elements, the other the odd ones.
#include <mpi.h>

enum { N = 8 };

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  static int in[2 * N], out[N];
  MPI_Datatype strided;
  MPI_Type_vector(N, 1, 2, MPI_INT, &strided);
  MPI_Type_commit(&strided);
  for (int i = 0; i < N; i++) {
    out[i] = i;
  }
  MPI_Request requests[2];
  MPI_Irecv(in, 1, strided, peer, 0, MPI_COMM_WORLD, &requests[0]);
  MPI_Irecv(in + 1, 1, strided, peer, 1, MPI_COMM_WORLD, &requests[1]);
  MPI_Send(out, N, MPI_INT, peer, 1, MPI_COMM_WORLD);
  MPI_Send(out, N, MPI_INT, peer, 0, MPI_COMM_WORLD);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  MPI_Type_free(&strided);

  MPI_Finalize();
  return in[14] == 7 && in[15] == 7 ? 0 : 1;
}

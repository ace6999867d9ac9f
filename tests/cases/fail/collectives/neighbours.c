// A rank of a ring takes what its neighbours send for numbers of another type.
//# np: 3
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm ring;
  int rank, data[4] = {0}, got[4] = {0};
  float numbers[4] = {0};
  MPI_Cart_create(MPI_COMM_WORLD, 1, (int[1]){3}, (int[1]){1}, 0, &ring);
  MPI_Comm_rank(ring, &rank);
  MPI_Datatype expected = rank == 1 ? MPI_FLOAT : MPI_INT;
  MPI_Neighbor_alltoall(data, 1, MPI_INT, rank == 1 ? (void *)numbers : got, 1, expected, ring); //~ CS-COL-04 access ranks=0,1,2 //~ CS-COL-04 operation
  MPI_Comm_free(&ring);
  MPI_Finalize();
  return 0;
}

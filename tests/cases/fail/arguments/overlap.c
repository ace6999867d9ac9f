// Datatypes, extents and displacements by which calls would write the same bytes twice.
#include <mpi.h>

static float values[256];
static float blocks[16];

int main(int argc, char **argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int other = 1 - rank;
  MPI_Request request;

  // A stride in bytes that was meant to be one in elements.
  MPI_Datatype column;
  MPI_Type_create_hvector(16, 1, 3, MPI_FLOAT, &column);
  MPI_Type_commit(&column);
  MPI_Irecv(values, 1, column, other, 0, MPI_COMM_WORLD, &request); //~ CS-ARG-04 operation
  MPI_Send(blocks, 16, MPI_FLOAT, other, 0, MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);

  // Its elements are in order, but begin one value apart.
  MPI_Datatype four, apart;
  MPI_Type_contiguous(4, MPI_FLOAT, &four);
  MPI_Type_create_resized(four, 0, sizeof(float), &apart);
  MPI_Type_commit(&apart);
  MPI_Sendrecv(blocks, 8, MPI_FLOAT, other, 1, values, 2, apart, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ CS-ARG-04 operation

  // Displacements in blocks, where they are in elements.
  int counts[2] = {4, 4}, displacements[2] = {0, 1};
  MPI_Gatherv(values, 4, MPI_FLOAT, blocks, counts, displacements, MPI_FLOAT, 0, MPI_COMM_WORLD); //~ CS-ARG-04 operation ranks=0
  MPI_Allgatherv(values, 4, MPI_FLOAT, blocks, counts, displacements, MPI_FLOAT, MPI_COMM_WORLD); //~ CS-ARG-04 operation

  MPI_Datatype members;
  int lengths[2] = {2, 1};
  MPI_Aint places[2] = {0, 4};
  MPI_Datatype types[2] = {MPI_FLOAT, MPI_FLOAT};
  MPI_Type_create_struct(2, lengths, places, types, &members);
  MPI_Type_commit(&members);
  MPI_Bcast(blocks, 1, members, 0, MPI_COMM_WORLD); //~ CS-ARG-04 operation ranks=1

  // At the target of a put, and in the buffer of a get.
  MPI_Win win;
  MPI_Win_create(values, sizeof values, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_fence(0, win);
  MPI_Put(blocks, 8, MPI_FLOAT, other, 0, 2, apart, win); //~ CS-ARG-04 operation
  MPI_Win_fence(0, win);
  MPI_Get(blocks, 2, apart, other, 0, 8, MPI_FLOAT, win); //~ CS-ARG-04 operation
  MPI_Win_fence(0, win);
  MPI_Win_free(&win);

  MPI_Type_free(&column);
  MPI_Type_free(&four);
  MPI_Type_free(&apart);
  MPI_Type_free(&members);
  MPI_Finalize();
  return 0;
}

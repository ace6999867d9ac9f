// Elements that lie across each other without a byte in common, and overlaps where nothing is
// written.
#include <mpi.h>

enum { ROWS = 16, COLUMNS = 8 };
static float values[ROWS * COLUMNS], copy[ROWS * COLUMNS];
static float blocks[16];

int main(int argc, char **argv) {
  int rank, size, wrong = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int other = 1 - rank;
  MPI_Request request;

  // All columns of a matrix, one after the other.
  MPI_Datatype strided, column;
  MPI_Type_create_hvector(ROWS, 1, COLUMNS * sizeof(float), MPI_FLOAT, &strided);
  MPI_Type_create_resized(strided, 0, sizeof(float), &column);
  MPI_Type_commit(&column);
  for (int i = 0; i < ROWS * COLUMNS; i++) copy[i] = i;
  MPI_Irecv(values, COLUMNS, column, other, 0, MPI_COMM_WORLD, &request);
  MPI_Send(copy, ROWS * COLUMNS, MPI_FLOAT, other, 0, MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  for (int i = 0; i < ROWS; i++)
    for (int j = 0; j < COLUMNS; j++) wrong += values[i * COLUMNS + j] != j * ROWS + i;

  // What is read may be read twice, also by one call.
  MPI_Datatype four, apart;
  MPI_Type_contiguous(4, MPI_FLOAT, &four);
  MPI_Type_create_resized(four, 0, sizeof(float), &apart);
  MPI_Type_commit(&apart);
  MPI_Sendrecv(copy, 2, apart, other, 1, values, 8, MPI_FLOAT, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  wrong += values[3] != 3 || values[4] != 1;
  // One element overlaps nothing.
  MPI_Sendrecv(copy, 4, MPI_FLOAT, other, 1, values, 1, apart, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);

  // Blocks in another order than that of the ranks, and an empty one within another.
  int counts[2] = {4, 4}, displacements[2] = {4, 0}, none[2] = {4, 0}, within[2] = {0, 1};
  float own[4] = {rank, rank, rank, rank};
  MPI_Gatherv(own, 4, MPI_FLOAT, blocks, counts, displacements, MPI_FLOAT, 0, MPI_COMM_WORLD);
  wrong += rank == 0 && (blocks[0] != 1 || blocks[7] != 0);
  MPI_Allgatherv(own, none[rank], MPI_FLOAT, blocks, none, within, MPI_FLOAT, MPI_COMM_WORLD);
  wrong += blocks[3] != 0;

  MPI_Datatype members;
  int lengths[2] = {2, 1};
  MPI_Aint places[2] = {4, 0};
  MPI_Datatype types[2] = {MPI_FLOAT, MPI_FLOAT};
  MPI_Type_create_struct(2, lengths, places, types, &members);
  MPI_Type_commit(&members);
  MPI_Bcast(blocks, 1, members, 0, MPI_COMM_WORLD);

  MPI_Win win;
  MPI_Win_create(values, sizeof values, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_fence(0, win);
  MPI_Put(copy, 2, apart, other, 0, 8, MPI_FLOAT, win);
  MPI_Win_fence(0, win);
  MPI_Get(copy, 1, column, other, 0, ROWS, MPI_FLOAT, win);
  MPI_Win_fence(0, win);
  MPI_Win_free(&win);

  MPI_Type_free(&strided);
  MPI_Type_free(&column);
  MPI_Type_free(&four);
  MPI_Type_free(&apart);
  MPI_Type_free(&members);
  MPI_Finalize();
  return wrong;
}

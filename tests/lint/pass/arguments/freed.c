/* Handles of freed objects that nobody uses, and variables that hold new ones. */
#include <mpi.h>
#include <stdio.h>

static int data[8];

static void make(MPI_Comm *comm) { MPI_Comm_dup(MPI_COMM_WORLD, comm); }

static void communicators(int rank) {
  MPI_Comm half;
  MPI_Comm_split(MPI_COMM_WORLD, 0, rank, &half);
  MPI_Bcast(data, 8, MPI_INT, 0, half);
  MPI_Comm_free(&half);
  if (half != MPI_COMM_NULL)
    MPI_Bcast(data, 8, MPI_INT, 0, half);
  make(&half);
  MPI_Barrier(half);
  MPI_Comm_free(&half);
  MPI_Comm_dup(MPI_COMM_WORLD, &half);
  MPI_Barrier(half);
  MPI_Comm_free(&half);
  MPI_Comm other = MPI_COMM_NULL;
  if (other != MPI_COMM_NULL)
    MPI_Comm_free(&other);
  for (int round = 0; round < 3; round++) {
    if (round > 0)
      MPI_Barrier(other);
    if (round == 0)
      MPI_Comm_dup(MPI_COMM_WORLD, &other);
  }
  if (other != MPI_COMM_NULL)
    MPI_Comm_free(&other);
}

static void datatypes(int next) {
  MPI_Datatype pair = MPI_INT;
  for (int count = 2; count < 5; count++) {
    MPI_Type_contiguous(count, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    MPI_Send(data, 1, pair, next, 0, MPI_COMM_WORLD);
    MPI_Type_free(&pair);
  }
  MPI_Comm_size(MPI_COMM_WORLD, data);
}

static void kept(MPI_Comm *comm, MPI_Comm **where) { *where = comm; }

static void known_elsewhere(void) {
  MPI_Comm comm = MPI_COMM_NULL, *where;
  kept(&comm, &where);
  *where = MPI_COMM_WORLD;
  MPI_Barrier(comm);
}

static void received(int next) {
  MPI_Request request;
  int to = -9;
  MPI_Irecv(&to, 1, MPI_INT, next, 0, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Send(data, 1, MPI_INT, to, 0, MPI_COMM_WORLD);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  communicators(rank);
  datatypes((rank + 1) % size);
  known_elsewhere();
  received((rank + 1) % size);
  MPI_Finalize();
}

/* Handles that variables hold no more, or not yet, where a call is given them. */
#include <mpi.h>
#include <stdio.h>

static int data[8];

static void communicators(int rank) {
  MPI_Comm half;
  MPI_Comm_split(MPI_COMM_WORLD, 0, rank, &half);
  MPI_Bcast(data, 8, MPI_INT, 0, half);
  MPI_Comm_free(&half); //~ CS-ARG-01 release
  MPI_Bcast(data, 8, MPI_INT, 0, half); //~ CS-ARG-01 operation
  MPI_Comm other;
  MPI_Comm_dup(MPI_COMM_WORLD, &other);
  MPI_Comm_free(&other); //~ CS-ARG-01 release
  MPI_Comm_free(&other); //~ CS-ARG-01 operation
  MPI_Comm given_up;
  MPI_Comm_dup(MPI_COMM_WORLD, &given_up);
  MPI_Comm kept = given_up;
  given_up = MPI_COMM_NULL;
  MPI_Barrier(given_up); //~ CS-ARG-01 operation
  MPI_Comm_free(&kept);
}

static void datatypes(int next) {
  MPI_Datatype pair;
  MPI_Type_contiguous(2, MPI_INT, &pair);
  MPI_Type_commit(&pair);
  MPI_Send(data, 1, pair, next, 0, MPI_COMM_WORLD);
  MPI_Type_free(&pair); //~ CS-ARG-01 release
  MPI_Send(data, 1, pair, next, 0, MPI_COMM_WORLD); //~ CS-ARG-01 operation
}

static void groups(void) {
  MPI_Group all, one;
  const int first = 0;
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  MPI_Group_incl(all, 1, &first, &one);
  MPI_Group_free(&all); //~ CS-ARG-01 release
  int size;
  MPI_Group_size(all, &size); //~ CS-ARG-01 operation
  MPI_Group_free(&one);
  printf("%d\n", size);
}

static void windows(int next) {
  MPI_Win win;
  MPI_Win_create(data, sizeof data, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_fence(0, win);
  MPI_Win_free(&win); //~ CS-ARG-01 release
  if (next < 0)
    printf("nobody\n");
  MPI_Win_fence(0, win); //~ CS-ARG-01 operation
}

static void numbers(int rank) {
  int next = rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &next);
  next = -7;
  MPI_Send(data, 1, MPI_INT, next, 0, MPI_COMM_WORLD); //~ CS-ARG-01 operation
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  communicators(rank);
  datatypes((rank + 1) % size);
  groups();
  windows((rank + 1) % size);
  numbers(rank);
  MPI_Finalize();
}

// Collectives that may wait for all ranks do so on communicators of all kinds, and change no
// result.
//# np: 4
//# options: --stuck-after 1 --strict-collectives
#include <mpi.h>
#include <stdlib.h>

static void expect(int is_right) {
  if (!is_right) abort();
}

static void inside(MPI_Comm comm) {
  int rank, size, counts[4], places[4];
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  for (int i = 0; i < size; i++) {
    counts[i] = 1;
    places[i] = i;
  }
  int mine = rank + 1, all[4] = {0}, total = 0, value = rank == size - 1 ? 7 : 0;
  MPI_Bcast(&value, 1, MPI_INT, size - 1, comm);
  expect(value == 7);
  MPI_Gather(&mine, 1, MPI_INT, all, 1, MPI_INT, 0, comm);
  expect(rank != 0 || all[size - 1] == size);
  MPI_Gatherv(&mine, 1, MPI_INT, all, counts, places, MPI_INT, 0, comm);
  MPI_Scatter(all, 1, MPI_INT, &value, 1, MPI_INT, 0, comm);
  MPI_Scatterv(all, counts, places, MPI_INT, &value, 1, MPI_INT, 0, comm);
  expect(value == mine);
  MPI_Reduce(&mine, &total, 1, MPI_INT, MPI_SUM, 0, comm);
  expect(rank != 0 || total == size * (size + 1) / 2);
  MPI_Scan(&mine, &total, 1, MPI_INT, MPI_SUM, comm);
  expect(total == mine * (mine + 1) / 2);
  MPI_Exscan(&mine, &total, 1, MPI_INT, MPI_SUM, comm);
  expect(rank == 0 || total == rank * (rank + 1) / 2);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, value;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm half, copy, between, group;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
  inside(MPI_COMM_WORLD);
  inside(MPI_COMM_SELF);
  inside(copy);
  inside(half);

  // Those of whose members commsan does not know all do not wait.
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank % 2 ? 2 : 3, 0, &between);
  int root = rank % 2 ? 0 : rank == 2 ? MPI_ROOT : MPI_PROC_NULL;
  value = rank == 2 ? 9 : 0;
  MPI_Bcast(&value, 1, MPI_INT, root, between);
  expect(rank == 0 || value == 9);
  MPI_Group world, low;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  int ranks[2] = {0, 1};
  MPI_Group_incl(world, 2, ranks, &low);
  if (rank < 2) {
    MPI_Comm_create_group(MPI_COMM_WORLD, low, 3, &group);
    inside(group);
    MPI_Comm_free(&group);
  }
  MPI_Group_free(&low);
  MPI_Group_free(&world);
  MPI_Comm_free(&between);
  MPI_Comm_free(&half);
  MPI_Comm_free(&copy);
  MPI_Finalize();
  return 0;
}

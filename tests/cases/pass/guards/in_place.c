/* Nonblocking collectives change the buffers that they read where these are also what they write.
   Nobody has recompiled the program. */
//# hooks: none
//# np: 3
//# options: --guards
#include <mpi.h>
#include <stddef.h>

enum { COUNT = 4, LARGE = 4000, RANKS = 3 };

static int buffer[RANKS * LARGE], own[LARGE], counts[RANKS], places[RANKS], rank;
static MPI_Datatype types[RANKS];
static MPI_Request request;

static void done(void) { MPI_Wait(&request, MPI_STATUS_IGNORE); }

static void all(int count) {
  MPI_Comm world = MPI_COMM_WORLD;
  for (int i = 0; i < RANKS; i++) counts[i] = count, places[i] = i * count, types[i] = MPI_INT;
  for (int i = 0; i < RANKS * count; i++) buffer[i] = rank + i % 7 + 1;
  MPI_Iallreduce(MPI_IN_PLACE, buffer, RANKS * count, MPI_INT, MPI_SUM, world, &request), done();
  MPI_Ireduce(rank ? (const void *)buffer : MPI_IN_PLACE, rank ? NULL : buffer, RANKS * count, MPI_INT, MPI_MAX, 0, world, &request), done();
  MPI_Ireduce_scatter(MPI_IN_PLACE, buffer, counts, MPI_INT, MPI_SUM, world, &request), done();
  MPI_Ireduce_scatter_block(MPI_IN_PLACE, buffer, count, MPI_INT, MPI_SUM, world, &request), done();
  MPI_Iscan(MPI_IN_PLACE, buffer, count, MPI_INT, MPI_SUM, world, &request), done();
  MPI_Iexscan(MPI_IN_PLACE, buffer, count, MPI_INT, MPI_SUM, world, &request), done();
  MPI_Iallgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, buffer, count, MPI_INT, world, &request), done();
  MPI_Iallgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, buffer, counts, places, MPI_INT, world, &request), done();
  MPI_Ialltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, buffer, count, MPI_INT, world, &request), done();
  MPI_Ialltoallv(MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, buffer, counts, places, MPI_INT, world, &request), done();
  for (int i = 0; i < RANKS; i++) places[i] *= sizeof(int);
  MPI_Ialltoallw(MPI_IN_PLACE, NULL, NULL, NULL, buffer, counts, places, types, world, &request), done();
  if (rank == 0) {
    MPI_Igather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, buffer, count, MPI_INT, 0, world, &request), done();
    MPI_Iscatter(buffer, count, MPI_INT, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, 0, world, &request), done();
  } else {
    MPI_Igather(own, count, MPI_INT, NULL, 0, MPI_DATATYPE_NULL, 0, world, &request), done();
    MPI_Iscatter(NULL, 0, MPI_DATATYPE_NULL, own, count, MPI_INT, 0, world, &request), done();
  }
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  all(COUNT);
  all(LARGE);
  MPI_Finalize();
}

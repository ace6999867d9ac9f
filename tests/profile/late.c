/* Who waits for whom: a chain of late senders, one slow rank before collectives, a rank that does
   input and output for all. Rank 0 writes what the program knows of it: kind, late rank, seconds
   that others wait. All ranks of a node read one clock, which MPI_Wtime need not be. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 64, TIMES = 3 };
static int rank, size, number;
static FILE *out;

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec + time.tv_nsec * 1e-9;
}

/* When each rank has begun, at rank 0. */
static void gather(double own, double all[MOST]) {
  MPI_Gather(&own, 1, MPI_DOUBLE, all, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
}

static void waited(const char *kind, int late, double seconds) {
  if (rank == 0 && seconds > 0) fprintf(out, "%s,%d,%.6f\n", kind, late, seconds);
}

/* Of a collective that nobody leaves before the last has entered; only the root waits if there is
 * one. */
static void met(const char *kind, double own, int root) {
  double all[MOST], sum = 0;
  int last = 0;
  gather(own, all);
  for (int i = 1; i < size; i++)
    if (all[i] > all[last]) last = i;
  for (int i = 0; i < size; i++)
    if (root < 0 || i == root) sum += all[last] - all[i];
  if (rank == 0) waited(kind, last, sum);
}

static void chain(void) {
  double received = 0, sent = 0, receives[MOST], sends[MOST];
  if (rank == 0) usleep(400000);
  if (rank > 0) {
    received = now();
    MPI_Recv(&number, 1, MPI_INT, rank - 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    usleep(100000);
  }
  sent = now();
  if (rank + 1 < size) MPI_Send(&number, 1, MPI_INT, rank + 1, 1, MPI_COMM_WORLD);
  gather(received, receives);
  gather(sent, sends);
  if (rank == 0)
    for (int i = 1; i < size; i++) waited("late sender", i - 1, sends[i - 1] - receives[i]);
}

static void slow(void) {
  for (int time = 0; time < TIMES; time++) {
    if (rank == 1) usleep(200000);
    double began = now();
    MPI_Allreduce(MPI_IN_PLACE, &number, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    met("wait at NxN", began, -1);
  }
}

static void io(void) {
  double all[MOST], sum = 0;
  if (rank == 0) usleep(300000); /* reads */
  double began = now();
  MPI_Bcast(&number, 1, MPI_INT, 0, MPI_COMM_WORLD);
  gather(began, all);
  for (int i = 1; i < size; i++)
    if (all[0] > all[i]) sum += all[0] - all[i];
  waited("late broadcast", 0, sum);
  if (rank == 2) usleep(300000); /* computes */
  began = now();
  int result = 0;
  MPI_Reduce(&number, &result, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  met("early reduce", began, 0);
  if (rank == 0) usleep(250000); /* writes */
  began = now();
  MPI_Barrier(MPI_COMM_WORLD);
  met("wait at barrier", began, -1);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (rank == 0) out = fopen(argv[1], "w");
  if (!strcmp(argv[2], "chain")) chain();
  if (!strcmp(argv[2], "slow")) slow();
  if (!strcmp(argv[2], "io")) io();
  if (!strcmp(argv[2], "many"))
    for (int i = 0; i < 100000; i++) {
      if (rank == 0) MPI_Send(&number, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
      if (rank == 1) MPI_Recv(&number, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
  if (rank == 0) fclose(out);
  MPI_Finalize();
  return 0;
}

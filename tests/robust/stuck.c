// Jobs that hang, or seem to: see stuck.rs.
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define N (4 << 20)

static double data[N];

static void compute(double seconds) {
  double begin = MPI_Wtime();
  while (MPI_Wtime() - begin < seconds) {
  }
}

// Another process keeps one rank from running for a while, in the middle of large messages.
static void transfer(int rank) {
  int victim = getpid();
  MPI_Bcast(&victim, 1, MPI_INT, 1, MPI_COMM_WORLD);
  pid_t child = rank == 0 ? fork() : 1;
  if (child == 0) {
    usleep(200 * 1000);
    kill(victim, SIGSTOP);
    sleep(3);
    kill(victim, SIGCONT);
    _exit(0);
  }
  double begin = MPI_Wtime();
  for (int more = 1; more;) {
    if (rank == 0) {
      MPI_Send(data, N, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
      MPI_Recv(data, N, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (rank == 1) {
      MPI_Recv(data, N, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Send(data, N, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);
    }
    more = MPI_Wtime() - begin < 1;
    MPI_Bcast(&more, 1, MPI_INT, 0, MPI_COMM_WORLD);
  }
  if (rank == 0) {
    waitpid(child, NULL, 0);
  }
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, value = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (!strcmp(argv[1], "computes")) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
      compute(1e9);
    }
    MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD);
  } else if (!strcmp(argv[1], "polls")) {
    MPI_Request request;
    int flag = 0, other = (rank + 1) % 2;
    MPI_Irecv(&value, 1, MPI_INT, other, 5, MPI_COMM_WORLD, &request);
    while (rank == 0 && !flag) {
      MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else if (!strcmp(argv[1], "stopped")) {
    transfer(rank);
  } else if (!strcmp(argv[1], "many")) {
    // A deadlock behind many others that wait.
    MPI_Request requests[64];
    for (int i = 0; i < 64; i++) {
      MPI_Irecv(&data[i], 1, MPI_DOUBLE, MPI_ANY_SOURCE, i, MPI_COMM_WORLD, &requests[i]);
    }
    MPI_Waitall(64, requests, MPI_STATUSES_IGNORE);
  } else if (!strcmp(argv[1], "tests")) {
    MPI_Request request;
    MPI_Irecv(&value, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &request);
    int flag = 0;
    for (double begin = MPI_Wtime(); !flag && MPI_Wtime() - begin < 3;) {
      MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    }
    MPI_Send(&rank, 1, MPI_INT, 0, 0, MPI_COMM_SELF);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  MPI_Finalize();
  puts("done");
  return 0;
}

// Ranks at different places for good, until somebody ends the job: all but the first one wait for
// it in MPI_Allreduce.
#include <fcntl.h>
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile double work = 1;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

__attribute__((noinline)) static void refine(void) {
  for (;;) work = work * 1.0000001 + 1e-9;
}

__attribute__((noinline)) static void step(void) {
  refine();
  work += 1;
}

__attribute__((noinline)) static void polls(void) {
  MPI_Request request;
  int value, done = 0;
  MPI_Irecv(&value, 1, MPI_INT, 1, 5, MPI_COMM_WORLD, &request);
  while (!done) MPI_Test(&request, &done, MPI_STATUS_IGNORE);
}

__attribute__((noinline)) static void naps(void) {
  for (;;) sleep(1000);
}

__attribute__((noinline)) static void locks(void) {
  pthread_mutex_lock(&lock);
  pthread_mutex_lock(&lock);
}

__attribute__((noinline)) static void reads(const char *fifo) {
  char byte;
  mkfifo(fifo, 0600);
  int file = open(fifo, O_RDWR);
  while (read(file, &byte, 1) > 0) {
  }
}

__attribute__((noinline)) static void waits_for_child(void) {
  pid_t child = fork();
  if (child == 0) {
    for (;;) pause();
  }
  waitpid(child, NULL, 0);
}

int main(int argc, char **argv) {
  int rank, sum;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Barrier(MPI_COMM_WORLD);
  const char *way = argc > 1 ? argv[1] : "";
  if (rank == 0) {
    printf("ready\n");
    fflush(stdout);
    if (!strcmp(way, "computes")) step();
    if (!strcmp(way, "polls")) polls();
    if (!strcmp(way, "sleeps")) naps();
    if (!strcmp(way, "locks")) locks();
    if (!strcmp(way, "reads")) reads(argv[2]);
    if (!strcmp(way, "child")) waits_for_child();
    if (!strcmp(way, "stops")) raise(SIGSTOP);
  }
  if (rank == 1 && !strcmp(way, "two")) step();
  if (rank == 2 && !strcmp(way, "two")) polls();
  // As if the others waited without taking processors from each other.
  if (rank > 2 && argc > 2 && !strcmp(argv[2], "idle")) naps();
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}

// A job that is looked at from outside. The first rank is where its argument says until the file
// `go` is there, the others wait for it in MPI_Allreduce; then all end with a sum, and with how
// often a system call was seen to be interrupted.
#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

static const char *go;
static volatile double work = 1;
static int interrupted;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int may_go(void) { return access(go, F_OK) == 0; }

__attribute__((noinline)) static void refine(void) {
  for (int i = 0; i < 50000000; i++) work = work * 1.0000001 + 1e-9;
}

__attribute__((noinline)) static void step(void) {
  while (!may_go()) refine();
  work += 1;
}

__attribute__((noinline)) static void naps(time_t seconds) {
  struct timespec time = {seconds, 0};
  while (!may_go()) interrupted += nanosleep(&time, NULL) != 0;
}

__attribute__((noinline)) static void reads(const char *fifo) {
  char byte;
  int file = open(fifo, O_RDWR);
  interrupted += read(file, &byte, 1) != 1;
}

__attribute__((noinline)) static void watches(void) {
  struct epoll_event event;
  int set = epoll_create1(0);
  while (!may_go()) interrupted += epoll_wait(set, &event, 1, 1000) != 0;
}

static void *holds(void *other) {
  struct timespec moment = {0, 20000000};
  pthread_mutex_lock(&lock);
  *(volatile int *)other = 1;
  while (!may_go()) nanosleep(&moment, NULL);
  pthread_mutex_unlock(&lock);
  return NULL;
}

__attribute__((noinline)) static void locks(void) {
  pthread_t thread;
  volatile int is_held = 0;
  pthread_create(&thread, NULL, holds, (void *)&is_held);
  while (!is_held) {
  }
  pthread_mutex_lock(&lock);
  pthread_mutex_unlock(&lock);
  pthread_join(thread, NULL);
}

// Each waits for its neighbour, and none sends.
__attribute__((noinline)) static void ring(int from) {
  int value;
  MPI_Recv(&value, 1, MPI_INT, from, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

// All wait for one, itself included.
__attribute__((noinline)) static void gathers(void) {
  int value;
  MPI_Recv(&value, 1, MPI_INT, 2, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

// Messages around a ring, each of which is checked, until all may go.
__attribute__((noinline)) static void exchanges(int rank, int size) {
  int stop = 0;
  for (int round = 0; !stop; round++) {
    int sent[64], got[64];
    for (int i = 0; i < 64; i++) sent[i] = rank + round * i;
    MPI_Sendrecv(sent, 64, MPI_INT, (rank + 1) % size, 1, got, 64, MPI_INT, (rank + size - 1) % size, 1,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < 64; i++) interrupted += got[i] != (rank + size - 1) % size + round * i;
    stop = rank == 0 && may_go();
    MPI_Bcast(&stop, 1, MPI_INT, 0, MPI_COMM_WORLD);
  }
}

int main(int argc, char **argv) {
  int rank, size, sum = 0;
  const char *way = argv[1];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Barrier(MPI_COMM_WORLD);
  go = argv[2];
  if (!strcmp(way, "ring")) ring((rank + 1) % size);
  if (!strcmp(way, "gathers")) gathers();
  if (!strcmp(way, "exchanges")) exchanges(rank, size);
  if (rank == 0) {
    if (!strcmp(way, "computes")) step();
    if (!strcmp(way, "sleeps")) naps(1);
    if (!strcmp(way, "naps")) naps(1000);
    if (!strcmp(way, "reads")) reads(argv[3]);
    if (!strcmp(way, "watches")) watches();
    if (!strcmp(way, "locks")) locks();
    if (!strcmp(way, "stops")) raise(SIGSTOP);
  }
  int mine[2] = {rank, interrupted}, all[2];
  MPI_Allreduce(mine, all, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("sum %d, interrupted %d\n", all[0], all[1]);
  MPI_Finalize();
  return 0;
}

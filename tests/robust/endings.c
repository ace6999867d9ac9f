// Ends in the way that the first argument names; with a second one, after a mistake: the last rank
// writes to a buffer that it is sending.
#include <mpi.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int rank, size;
static int out[64], in[64];
static sigjmp_buf recovery;

__attribute__((noinline)) static void mistake(void) {
  out[3] = 4;
}

// Sends to itself, with `during` while the message is pending.
__attribute__((noinline)) static void exchange(void (*during)(void)) {
  MPI_Request request;
  MPI_Isend(out, 64, MPI_INT, rank, 1, MPI_COMM_WORLD, &request);
  if (during) during();
  MPI_Recv(in, 64, MPI_INT, rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void recover(int signal) {
  (void)signal;
  siglongjmp(recovery, 1);
}

static void leave(int signal) {
  (void)signal;
  exit(7);
}

__attribute__((noinline)) static void crash(void) {
  *(volatile int *)8 = 1;
}

static void crash_in_handler(int signal) {
  (void)signal;
  crash();
}

static void crash_in_reduction(void *a, void *b, int *count, MPI_Datatype *type) {
  (void)a, (void)b, (void)count, (void)type;
  crash();
}

static void crash_and_recover(void) {
  if (sigsetjmp(recovery, 1) == 0) crash();
}

// The child's memory is its own, and its end says nothing about the rank.
static void fork_a_child(void) {
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    for (int i = 0; i < 64; i++) out[i] = -1;
    exit(0);
  }
  int status = 1;
  waitpid(child, &status, 0);
  if (status != 0 || system("exit 3") >> 8 != 3) abort();
  FILE *pipe = popen("echo $((40 + 2))", "r");
  int answer = 0;
  if (!pipe || fscanf(pipe, "%d", &answer) != 1 || answer != 42) abort();
  pclose(pipe);
}

static int depth(int n) {
  volatile int room[64];
  room[n % 64] = n;
  return n == 0 ? 0 : depth(n - 1) + (room[n % 64] == n);
}

static void recurse(void) {
  if (depth(20000) != 20000) abort();
}

int main(int argc, char **argv) {
  const char *way = argc > 1 ? argv[1] : "return";
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int last = rank == size - 1;
  if (argc > 2 && last) exchange(mistake);
  MPI_Barrier(MPI_COMM_WORLD);
  if (strcmp(way, "kill") == 0 && last) kill(getpid(), SIGKILL);
  if (strcmp(way, "crash") == 0 && last) crash();
  if (strcmp(way, "abort") == 0 && last) MPI_Abort(MPI_COMM_WORLD, 5);
  if (strcmp(way, "exit") == 0 && last) exit(7);
  if (strcmp(way, "_exit") == 0 && last) _exit(7);
  if (strcmp(way, "reduction") == 0 && last) {
    MPI_Op op;
    MPI_Op_create(crash_in_reduction, 1, &op);
    MPI_Reduce_local(in, out, 64, MPI_INT, op);
  }
  if (strcmp(way, "sent") == 0 && last) raise(SIGSEGV);
  if ((strcmp(way, "alarm") == 0 || strcmp(way, "handler") == 0) && last) {
    signal(SIGALRM, way[0] == 'a' ? leave : crash_in_handler);
    alarm(1);
    MPI_Recv(in, 64, MPI_INT, rank, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  const char *of_the_last[] = {"kill", "crash", "abort", "exit", "_exit", "alarm", "handler", "reduction", "sent"};
  for (int i = 0; i < 9; i++)
    if (strcmp(way, of_the_last[i]) == 0) MPI_Barrier(MPI_COMM_WORLD);
  if (strcmp(way, "recover") == 0) {
    signal(SIGSEGV, recover);
    for (int i = 0; i < 3; i++) exchange(crash_and_recover);
  }
  if (strcmp(way, "fork") == 0) exchange(fork_a_child);
  if (strcmp(way, "recurse") == 0) exchange(recurse);
  exchange(NULL);
  if (strcmp(way, "leak") == 0 && last) {
    MPI_Request request;
    MPI_Irecv(in, 64, MPI_INT, rank, 2, MPI_COMM_WORLD, &request);
  }
  if (strcmp(way, "overlap") == 0 && last) {
    MPI_Request requests[2];
    MPI_Irecv(in, 8, MPI_INT, rank, 2, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(in + 7, 8, MPI_INT, rank, 2, MPI_COMM_WORLD, &requests[1]);
    for (int i = 0; i < 2; i++) MPI_Send(out, 8, MPI_INT, rank, 2, MPI_COMM_WORLD);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  }
  if (strcmp(way, "free") == 0 && last) {
    MPI_Request request;
    int *heap = malloc(8000);
    memset(heap, 0, 8000);
    MPI_Isend(heap, 2000, MPI_INT, rank, 2, MPI_COMM_WORLD, &request);
    int *received = malloc(8000);
    MPI_Recv(received, 2000, MPI_INT, rank, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    free(heap);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    free(received);
  }
  if (strcmp(way, "many") == 0)
    for (int i = 0; i < 2000; i++) exchange(NULL);
  MPI_Finalize();
  printf("rank %d is fine\n", rank);
  return 0;
}

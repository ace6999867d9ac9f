// A timer interrupts stores beside a pending buffer, again and again. Its handler leaves by
// siglongjmp, which is allowed, since nothing but stores is interrupted; with the argument `exit`
// it ends the program at last.
#include <mpi.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

enum { JUMPS = 300 };

static sigjmp_buf again;
static volatile sig_atomic_t storing, jumps, leave;
static _Alignas(8) volatile int data[2];

static void alarmed(int signal) {
  (void)signal;
  if (!storing) return;
  storing = 0;
  if (++jumps == JUMPS && leave) exit(4);
  siglongjmp(again, 1);
}

static void timer(int microseconds) {
  struct itimerval time = {{0, microseconds}, {0, microseconds}};
  setitimer(ITIMER_REAL, &time, NULL);
}

int main(int argc, char **argv) {
  MPI_Request request;
  int received;
  sigset_t set;
  leave = argc > 1 && strcmp(argv[1], "exit") == 0;
  // Threads of the MPI library do not get it.
  sigemptyset(&set);
  sigaddset(&set, SIGALRM);
  sigprocmask(SIG_BLOCK, &set, NULL);
  MPI_Init(&argc, &argv);
  signal(SIGALRM, alarmed);
  sigprocmask(SIG_UNBLOCK, &set, NULL);
  MPI_Isend((void *)data, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &request);
  timer(500);
  sigsetjmp(again, 1);
  while (jumps < JUMPS) {
    storing = 1;
    data[1] = jumps;
  }
  timer(0);
  MPI_Recv(&received, 1, MPI_INT, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Finalize();
  printf("fine\n");
  return 0;
}

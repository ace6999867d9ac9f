/* What is sent is protected from writing, as where memory has no protection keys: it is used again
   when its operations are complete, also when a reply shows that; MPI and the system write to it
   then. The program handles faults of pages of its own. */
//# hooks: none
//# options: --guards=sends --guard-budget 100
#include <fcntl.h>
#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { COUNT = 1 << 17, ROUNDS = 4, PAGE = 4096 };

static char *own;
static volatile sig_atomic_t faults;

static void has_faulted(int number, siginfo_t *info, void *context) {
  (void)number, (void)context;
  if ((char *)info->si_addr < own || (char *)info->si_addr >= own + PAGE) _exit(9);
  faults++;
  mprotect(own, PAGE, PROT_READ | PROT_WRITE);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, wrong = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  own = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  struct sigaction action = {.sa_sigaction = has_faulted, .sa_flags = SA_SIGINFO};
  sigaction(SIGSEGV, &action, NULL);
  double *out = calloc(COUNT, sizeof *out), *in = calloc(COUNT, sizeof *in);
  int zero = open("/dev/zero", O_RDONLY);
  for (int round = 0; round < ROUNDS; round++) {
    for (int i = 0; i < COUNT; i++) out[i] = rank + i + round;
    MPI_Request request, receive;
    MPI_Irecv(in, COUNT, MPI_DOUBLE, 1 - rank, 1, MPI_COMM_WORLD, &receive);
    MPI_Isend(out, COUNT, MPI_DOUBLE, 1 - rank, 1, MPI_COMM_WORLD, &request);
    own[round] = 1;
    mprotect(own, PAGE, PROT_READ);
    if (round % 2) {
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
      MPI_Request_free(&request);
    }
    MPI_Wait(&receive, MPI_STATUS_IGNORE);
    MPI_Sendrecv(NULL, 0, MPI_INT, 1 - rank, 2, NULL, 0, MPI_INT, 1 - rank, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    /* The peer has all of it: MPI, the system and the program write there. */
    MPI_Sendrecv(in, COUNT, MPI_DOUBLE, 1 - rank, 3, out, COUNT, MPI_DOUBLE, 1 - rank, 3, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    wrong += out[COUNT / 2] != rank + COUNT / 2 + round || in[7] != 1 - rank + 7 + round;
    wrong += read(zero, out, COUNT * sizeof *out) != COUNT * sizeof *out;
    memset(in, 0, COUNT * sizeof *in);
    MPI_Iallreduce(MPI_IN_PLACE, out, COUNT, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    wrong += out[COUNT / 3] != 0;
  }
  wrong += faults != ROUNDS;
  close(zero);
  free(out);
  free(in);
  MPI_Finalize();
  return wrong;
}

// A handler makes memory readable at its first use, which is in MPI; as in programs that fill
// memory when it is needed.
#include <mpi.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

static char *buffer;
static long page;

static void fill(int signal, siginfo_t *info, void *context) {
  (void)signal, (void)context;
  char *address = info->si_addr;
  if (address < buffer || address >= buffer + page || mprotect(buffer, page, PROT_READ | PROT_WRITE) != 0)
    _exit(3);
  buffer[15] = 7;
}

int main(int argc, char **argv) {
  struct sigaction action = {.sa_sigaction = fill, .sa_flags = SA_SIGINFO};
  page = sysconf(_SC_PAGESIZE);
  buffer = mmap(NULL, page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  sigaction(SIGSEGV, &action, NULL);
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  char in[16] = {0};
  if (rank == 0) {
    MPI_Send(buffer, 16, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
  } else {
    MPI_Recv(in, 16, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Finalize();
  return rank == 0 || in[15] == 7 ? 0 : 1;
}

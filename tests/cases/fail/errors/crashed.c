// The buffer of a message ends before the message does.
#include <mpi.h>
#include <sys/mman.h>
#include <unistd.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  long page = sysconf(_SC_PAGESIZE);
  char *buffer = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  mprotect(buffer + page, page, PROT_NONE);
  if (rank == 0) {
    MPI_Send(buffer + page - 8, 16, MPI_CHAR, 1, 0, MPI_COMM_WORLD); //~ CS-ERR-02 operation ranks=0
  } else {
    MPI_Recv(buffer, 16, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  munmap(buffer, 2 * page);
  MPI_Finalize();
  return 0;
}

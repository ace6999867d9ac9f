// fread loads the next chunk of a file into the buffer of a pending send.
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  static int chunk[40], in[40];
  size_t got = 0;
  FILE *file = tmpfile();
  for (int i = 1; i <= 80; i++) {
    fwrite(&i, sizeof(i), 1, file);
  }
  rewind(file);
  got += fread(chunk, sizeof(int), 40, file);
  MPI_Request request;
  MPI_Isend(chunk, 40, MPI_INT, peer, 0, MPI_COMM_WORLD, &request); //~ CS-BUF-01 operation
  got += fread(chunk, sizeof(int), 40, file); //~ CS-BUF-01 access
  MPI_Recv(in, 40, MPI_INT, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  fclose(file);

  printf("%s\n", got == 80 && in[39] == 40 && chunk[39] == 80 ? "right" : "wrong");
  MPI_Finalize();
  return 0;
}

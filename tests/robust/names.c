/* A library of the program has functions with names of the C library's, which take and return
 * something else.
 *
 * names */
#ifdef LIBRARY
double preadv(double a, double b, int c, int d, int e, int f, int g, int h, int i, double j) {
  return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h + 9 * i + 10 * j;
}

double fread_unlocked(const char *name, double a) { return name[0] + a; }

double call(void) { return preadv(1, 2, 3, 4, 5, 6, 7, 8, 9, 10) + fread_unlocked("a", 0.5); }
#else
#include <mpi.h>

double call(void);

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  static char in[1 << 16];
  MPI_Request request;
  MPI_Irecv(in, sizeof in, MPI_CHAR, 0, 0, MPI_COMM_SELF, &request);
  int wrong = call() != 1 + 4 + 9 + 16 + 25 + 36 + 49 + 64 + 81 + 100 + 'a' + 0.5;
  MPI_Send(NULL, 0, MPI_CHAR, 0, 0, MPI_COMM_SELF);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Finalize();
  return wrong;
}
#endif

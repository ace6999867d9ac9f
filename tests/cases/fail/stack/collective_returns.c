// The local contribution to a nonblocking reduction goes out of scope with its function.
#include <mpi.h>
#include <stdio.h>

__attribute__((noinline)) static void begin_sum(double value, double *sum, MPI_Request *request) {
  double mine = value * value;
  MPI_Iallreduce(&mine, sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, request); //~ CS-BUF-06 operation
} //~ CS-BUF-06 return func=begin_sum

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  static double sum;
  MPI_Request request;
  begin_sum(2, &sum, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);

  printf("%s\n", sum == 8 ? "right" : "wrong");
  MPI_Finalize();
  return 0;
}

// Counts and tags that are the numbers of handles in the standard's ABI: 257 is MPI_COMM_WORLD, 521
// MPI_INT.
#include <mpi.h>

struct job {
  long count, tag;
  MPI_Comm comm;
  MPI_Datatype type;
};

static int values[521];

static void give(struct job *job, int rank) {
  if (rank == 0) MPI_Send(values, job->count, job->type, 1, job->tag, job->comm);
  if (rank == 1) MPI_Recv(values, 257, job->type, 0, 256, job->comm, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv) {
  int rank;
  struct job job = {257, 256, MPI_COMM_WORLD, MPI_INT};
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (job.count == 257 && job.tag != 257) give(&job, rank);
  MPI_Finalize();
  return 0;
}

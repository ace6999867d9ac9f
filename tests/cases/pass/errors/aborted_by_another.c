// One rank ends the job on a communicator of its own. The other one waits in MPI, and its library
// exits there: no error of that call.
//# exit: 3
#include <mpi.h>

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	int rank, value = 1;
	MPI_Comm world;
	MPI_Comm_dup(MPI_COMM_WORLD, &world);
	MPI_Comm_rank(world, &rank);
	if (rank == 0) {
		MPI_Recv(&value, 1, MPI_INT, 1, 0, world, MPI_STATUS_IGNORE);
		MPI_Abort(world, 3);
	}
	MPI_Send(&value, 1, MPI_INT, 0, 0, world);
	MPI_Recv(&value, 1, MPI_INT, 0, 1, world, MPI_STATUS_IGNORE);
	MPI_Finalize();
}

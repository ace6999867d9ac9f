/* Two ranks spawn three more of this program; both jobs talk among themselves, and with each other. */

#include <mpi.h>

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	MPI_Comm other;
	MPI_Comm_get_parent(&other);
	int is_child = other != MPI_COMM_NULL, rank, size;
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	int from_child[8] = {0}, to_child[4] = {0}, sum[2] = {rank, size}, all[2];
	if (is_child) {
		if (rank == 2)
			MPI_Send(from_child, 8, MPI_INT, 1, 0, other);
		MPI_Bcast(to_child, 4, MPI_INT, 0, other);
	} else {
		MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 3, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &other, MPI_ERRCODES_IGNORE);
		if (rank == 1)
			MPI_Recv(from_child, 8, MPI_INT, 2, 0, other, MPI_STATUS_IGNORE);
		MPI_Bcast(to_child, 4, MPI_INT, rank == 0 ? MPI_ROOT : MPI_PROC_NULL, other);
	}
	MPI_Allreduce(sum, all, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	MPI_Comm everybody;
	MPI_Intercomm_merge(other, is_child, &everybody);
	MPI_Allgather(sum, 1, MPI_INT, (int[5]){0}, 1, MPI_INT, everybody);
	MPI_Comm_free(&everybody);
	MPI_Comm_disconnect(&other);
	MPI_Finalize();
	return 0;
}

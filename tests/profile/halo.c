/* A ring of ranks that exchange the ends of their arrays: what moves where is known in advance. */
#include "../../include/commsan.h"

#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CELLS = 1000, HALO = 10, STEPS = 20 };

static double global[CELLS], named[CELLS];

static void exchange(double *u, double *edge, int left, int right)
{
	MPI_Request requests[2];
	MPI_Irecv(edge, HALO, MPI_DOUBLE, left, 0, MPI_COMM_WORLD, &requests[0]); /* receives */
	MPI_Isend(u + CELLS - HALO, HALO, MPI_DOUBLE, right, 0, MPI_COMM_WORLD, &requests[1]); /* sends */
	MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

static void probed(double *u, double *edge, int left, int right)
{
	MPI_Message message;
	MPI_Request request;
	MPI_Isend(u, 1, MPI_DOUBLE, right, 1, MPI_COMM_WORLD, &request);
	MPI_Mprobe(left, 1, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
	MPI_Mrecv(edge, HALO, MPI_DOUBLE, &message, MPI_STATUS_IGNORE); /* found */
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	MPI_Isend(u, 1, MPI_DOUBLE, right, 2, MPI_COMM_WORLD, &request);
	MPI_Mprobe(MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
	MPI_Request received;
	MPI_Imrecv(edge, HALO, MPI_DOUBLE, &message, &received); /* found later */
	MPI_Wait(&received, MPI_STATUS_IGNORE);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
	int rank, size;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	double *u = malloc(CELLS * sizeof *u);
	double *edge = calloc(HALO * 20, sizeof *edge);
	double *hidden[2] = { malloc(CELLS * sizeof(double)), NULL };
	memset(u, 0, CELLS * sizeof *u);
	memset(hidden[0], 0, CELLS * sizeof *u);
	commsan_name(hidden[0], "pressure");
	commsan_name(named, "spectrum");
	for (int step = 0; step < STEPS; step++)
		exchange(u, edge, (rank + size - 1) % size, (rank + 1) % size);
	probed(u, edge, (rank + size - 1) % size, (rank + 1) % size);
	commsan_begin("norms");
	MPI_Bcast(hidden[0], HALO, MPI_DOUBLE, 0, MPI_COMM_WORLD); /* pressure */
	MPI_Allreduce(MPI_IN_PLACE, global + 8, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); /* norm */
	MPI_Allreduce(MPI_IN_PLACE, named + 100, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); /* named */
	commsan_end();
	if (argc > 1 && !strcmp(argv[1], "kill")) {
		sleep(3);
		MPI_Barrier(MPI_COMM_WORLD);
		if (rank == 1)
			raise(SIGKILL);
		MPI_Barrier(MPI_COMM_WORLD);
	}
	free(hidden[0]);
	free(edge);
	free(u);
	MPI_Finalize();
	return 0;
}

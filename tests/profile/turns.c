/* Arrays that take turns at one line: only the order of messages tells which arrives where. */
#include "../../include/commsan.h"
#include <mpi.h>
#include <stdlib.h>

enum { DOUBLES = 200, ROOM = 300 };

static double *named(const char *name)
{
	double *array = calloc(ROOM, sizeof *array);
	commsan_name(array, name);
	return array;
}

int main(int argc, char **argv)
{
	int me;
	MPI_Request request;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &me);
	double *sent[2] = { named("u"), named("v") }, *received[2] = { named("a"), named("b") };
	/* Too small to be told apart, but for its name. */
	int *small = calloc(4, sizeof *small);
	commsan_name(small + 1, "small");
	for (int i = 0; i < 30; i++) {
		/* u arrives in b, and v, of which less is sent, in a. */
		int turn = i % 3 == 2;
		if (me == 0)
			MPI_Send(sent[turn], DOUBLES - turn, MPI_DOUBLE, 1, 4, MPI_COMM_WORLD); /* sends */
		if (me == 1) {
			MPI_Irecv(received[1 - turn], ROOM, MPI_DOUBLE, 0, 4, MPI_COMM_WORLD, &request); /* receives */
			MPI_Wait(&request, MPI_STATUS_IGNORE);
		}
	}
	MPI_Bcast(small + 1, 2, MPI_INT, 0, MPI_COMM_WORLD);
	free(small);
	/* Nobody has named this one, wherever it lies. */
	small = calloc(4, sizeof *small);
	MPI_Bcast(small, 1, MPI_INT, 0, MPI_COMM_WORLD);
	/* Order is lost where a message is taken out of it. */
	for (int i = 0; i < 4; i++) {
		MPI_Message message;
		MPI_Status status;
		if (me == 0)
			MPI_Send(sent[i % 2], DOUBLES, MPI_DOUBLE, 1, 5, MPI_COMM_WORLD);
		if (me == 1 && i < 2) {
			MPI_Mprobe(0, 5, MPI_COMM_WORLD, &message, &status);
			MPI_Mrecv(received[i % 2], ROOM, MPI_DOUBLE, &message, &status);
		} else if (me == 1) {
			MPI_Recv(received[i % 2], ROOM, MPI_DOUBLE, 0, 5, MPI_COMM_WORLD, &status);
		}
	}
	MPI_Finalize();
	return 0;
}

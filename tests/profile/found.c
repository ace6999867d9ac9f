/* Writes to a buffer that is being sent, at a moment that the program tells: RANK,BEFORE,AFTER in
 * nanoseconds since 1970. The last rank does it in another thread. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { COUNT = 100000 };

static double *sent;
static long before, after;

static long now(void)
{
	struct timespec time;
	clock_gettime(CLOCK_REALTIME, &time);
	return time.tv_sec * 1000000000L + time.tv_nsec;
}

static void *spoil(void *arg)
{
	before = now();
	sent[COUNT / 2] = 1; /* found here */
	after = now();
	return arg;
}

int main(int argc, char **argv)
{
	int me, size;
	MPI_Request requests[2];
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &me);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	sent = calloc(COUNT, sizeof *sent);
	double *received = calloc(COUNT, sizeof *received);
	MPI_Irecv(received, COUNT, MPI_DOUBLE, (me + 1) % size, 0, MPI_COMM_WORLD, &requests[0]);
	MPI_Isend(sent, COUNT, MPI_DOUBLE, (me + size - 1) % size, 0, MPI_COMM_WORLD, &requests[1]);
	usleep(50000 + 100000 * me);
	if (me == size - 1) {
		pthread_t thread;
		pthread_create(&thread, NULL, spoil, NULL);
		pthread_join(thread, NULL);
	} else {
		spoil(NULL);
	}
	MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
	char line[100];
	int length = snprintf(line, sizeof line, "%d,%ld,%ld\n", me, before, after);
	for (int turn = 0; turn < size; turn++) {
		if (turn == me) {
			FILE *out = fopen(argv[1], turn == 0 ? "w" : "a");
			fwrite(line, 1, length, out);
			fclose(out);
		}
		MPI_Barrier(MPI_COMM_WORLD);
	}
	free(sent);
	free(received);
	MPI_Finalize();
}

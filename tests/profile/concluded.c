/* Does what commsan concludes only after the run, and tells when: RANK,BEFORE,AFTER in nanoseconds
 * since 1970. `lost`: sends three messages of which two are received. `types`: receives as
 * another type than is sent. `stuck`: ranks wait for each other, one after the other. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static long now(void)
{
	struct timespec time;
	clock_gettime(CLOCK_REALTIME, &time);
	return time.tv_sec * 1000000000L + time.tv_nsec;
}

static void tell(const char *name, int me, long before, long after)
{
	char path[1000];
	snprintf(path, sizeof path, "%s.%d", name, me);
	FILE *out = fopen(path, "w");
	fprintf(out, "%d,%ld,%ld\n", me, before, after);
	fclose(out);
}

int main(int argc, char **argv)
{
	int me, value = 0;
	long before = 0, after = 0;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &me);
	if (strcmp(argv[2], "stuck") == 0) {
		usleep(500000 * me);
		tell(argv[1], me, now(), 0);
		MPI_Recv(&value, 1, MPI_INT, 1 - me, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* stuck */
	} else if (strcmp(argv[2], "types") == 0) {
		float real = 0;
		usleep(100000 * me);
		before = now();
		if (me == 0)
			MPI_Send(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
		else
			MPI_Recv(&real, 1, MPI_FLOAT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		after = now();
		tell(argv[1], me, before, after);
	} else if (me == 0) {
		for (int tag = 0; tag < 3; tag++) {
			usleep(20000);
			before = now();
			MPI_Send(&value, 1, MPI_INT, 1, tag, MPI_COMM_WORLD); /* lost */
			after = now();
		}
		tell(argv[1], me, before, after);
	} else {
		for (int tag = 0; tag < 2; tag++)
			MPI_Recv(&value, 1, MPI_INT, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	}
	MPI_Finalize();
}

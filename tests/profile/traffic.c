/* Random communication that knows what it moves: `traffic SEED OUT` writes, for each kind, source
 * and target, how many transfers there must be and how many bytes, from the standard's definitions
 * alone. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { POINT_TO_POINT, COLLECTIVE, RMA, KINDS, MOST = 16, ELEMENTS = 4096 };

static const char *const names[KINDS] = { "point-to-point", "collective", "rma" };
static long count[KINDS][MOST][MOST], bytes[KINDS][MOST][MOST];
static uint64_t state;
static int me, size;

/* The same in all ranks. */
static int pick(int below)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (int)((state >> 33) % (uint64_t)below);
}

static void moves(int kind, int from, int to, long elements)
{
	/* An empty message is one, too. */
	if (elements > 0 || kind == POINT_TO_POINT) {
		count[kind][from][to]++;
		bytes[kind][from][to] += elements * (long)sizeof(double);
	}
}

static void to_others(int from, long elements)
{
	for (int to = 0; to < size; to++)
		if (to != from)
			moves(COLLECTIVE, from, to, elements);
}

static void from_others(int to, long elements)
{
	for (int from = 0; from < size; from++)
		if (from != to)
			moves(COLLECTIVE, from, to, elements);
}

static void among_all(long elements)
{
	for (int from = 0; from < size; from++)
		to_others(from, elements);
}

static void message(double *out, double *in)
{
	int from = pick(size), to = pick(size), n = pick(50), any = pick(2), tag = pick(3);
	moves(POINT_TO_POINT, from, to, n);
	MPI_Request requests[2];
	int pending = 0;
	if (me == to)
		MPI_Irecv(in, 64, MPI_DOUBLE, any ? MPI_ANY_SOURCE : from, any ? MPI_ANY_TAG : tag,
			  MPI_COMM_WORLD, &requests[pending++]);
	if (me == from)
		MPI_Isend(out + tag, n, MPI_DOUBLE, to, tag, MPI_COMM_WORLD, &requests[pending++]);
	MPI_Waitall(pending, requests, MPI_STATUSES_IGNORE);
	/* Nobody may send the next message before who takes any has this one. */
	if (any)
		MPI_Barrier(MPI_COMM_WORLD);
}

static void shift(double *out, double *in)
{
	int by = pick(size), n = 1 + pick(40);
	for (int from = 0; from < size; from++)
		moves(POINT_TO_POINT, from, (from + by) % size, n);
	MPI_Sendrecv(out, n, MPI_DOUBLE, (me + by) % size, 5, in, 64, MPI_DOUBLE,
		     (me + size - by) % size, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Send(out, n, MPI_DOUBLE, MPI_PROC_NULL, 5, MPI_COMM_WORLD);
}

static void persistent(double *out, double *in)
{
	int from = pick(size), to = (from + 1) % size, n = 1 + pick(20), times = pick(4);
	if (from == to)
		return;
	for (int i = 0; i < times; i++)
		moves(POINT_TO_POINT, from, to, n);
	MPI_Request request = MPI_REQUEST_NULL;
	if (me == from)
		MPI_Send_init(out, n, MPI_DOUBLE, to, 6, MPI_COMM_WORLD, &request);
	else if (me == to)
		MPI_Recv_init(in, n, MPI_DOUBLE, from, 6, MPI_COMM_WORLD, &request);
	else
		return;
	for (int i = 0; i < times; i++) {
		MPI_Start(&request);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
	}
	MPI_Request_free(&request);
}

static void column(double *out, double *in)
{
	int from = pick(size), to = pick(size), rows = 1 + pick(10);
	moves(POINT_TO_POINT, from, to, rows);
	MPI_Datatype type;
	MPI_Type_vector(rows, 1, 20, MPI_DOUBLE, &type);
	MPI_Type_commit(&type);
	MPI_Request request = MPI_REQUEST_NULL;
	if (me == to)
		MPI_Irecv(in, rows, MPI_DOUBLE, from, 7, MPI_COMM_WORLD, &request);
	if (me == from)
		MPI_Send(out, 1, type, to, 7, MPI_COMM_WORLD);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	MPI_Type_free(&type);
}

static void rooted(double *out, double *in)
{
	int root = pick(size), n = pick(30);
	switch (pick(4)) {
	case 0:
		to_others(root, n);
		MPI_Bcast(out, n, MPI_DOUBLE, root, MPI_COMM_WORLD);
		break;
	case 1:
		from_others(root, n);
		MPI_Reduce(out, in, n, MPI_DOUBLE, MPI_SUM, root, MPI_COMM_WORLD);
		break;
	case 2:
		from_others(root, n);
		MPI_Gather(out, n, MPI_DOUBLE, in, n, MPI_DOUBLE, root, MPI_COMM_WORLD);
		break;
	case 3:
		to_others(root, n);
		MPI_Scatter(out, n, MPI_DOUBLE, in, n, MPI_DOUBLE, root, MPI_COMM_WORLD);
		break;
	}
}

static void uneven(double *out, double *in)
{
	int table[MOST][MOST], displacements[MOST], sends[MOST], receives[MOST], root = pick(size);
	for (int from = 0; from < size; from++)
		for (int to = 0; to < size; to++)
			table[from][to] = pick(9);
	for (int other = 0; other < size; other++) {
		displacements[other] = 16 * other;
		sends[other] = table[me][other];
		receives[other] = table[other][me];
	}
	if (pick(2)) {
		for (int from = 0; from < size; from++)
			for (int to = 0; to < size; to++)
				if (from != to)
					moves(COLLECTIVE, from, to, table[from][to]);
		MPI_Alltoallv(out, sends, displacements, MPI_DOUBLE, in, receives, displacements,
			      MPI_DOUBLE, MPI_COMM_WORLD);
	} else {
		for (int from = 0; from < size; from++) {
			receives[from] = table[from][0];
			if (from != root)
				moves(COLLECTIVE, from, root, table[from][0]);
		}
		MPI_Gatherv(out, table[me][0], MPI_DOUBLE, in, receives, displacements, MPI_DOUBLE,
			    root, MPI_COMM_WORLD);
	}
}

static void everybody(double *out, double *in)
{
	int n = pick(30);
	MPI_Request request;
	switch (pick(6)) {
	case 0:
		among_all(n);
		MPI_Allreduce(MPI_IN_PLACE, in, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
		break;
	case 1:
		among_all(n);
		MPI_Iallgather(out, n, MPI_DOUBLE, in, n, MPI_DOUBLE, MPI_COMM_WORLD, &request);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
		break;
	case 2:
		among_all(n);
		MPI_Alltoall(out, n, MPI_DOUBLE, in, n, MPI_DOUBLE, MPI_COMM_WORLD);
		break;
	case 3:
		among_all(n);
		MPI_Reduce_scatter_block(out, in, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
		break;
	case 4:
		for (int from = 0; from < size; from++)
			for (int to = from + 1; to < size; to++)
				moves(COLLECTIVE, from, to, n);
		MPI_Scan(out, in, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
		break;
	case 5:
		MPI_Barrier(MPI_COMM_WORLD);
		break;
	}
}

static void half(double *out, double *in, MPI_Comm comm)
{
	int n = 1 + pick(30);
	for (int from = 0; from < size; from++)
		for (int to = from % 2; to < size; to += 2)
			if (from != to)
				moves(COLLECTIVE, from, to, n);
	MPI_Allreduce(out, in, n, MPI_DOUBLE, MPI_MAX, comm);
}

static void one_sided(double *out, double *in, MPI_Win window)
{
	int origin = pick(size), target = pick(size), n = 1 + pick(20), at = pick(64), what = pick(3);
	if (what == 1)
		moves(RMA, target, origin, n);
	else
		moves(RMA, origin, target, n);
	MPI_Win_fence(0, window);
	if (me == origin) {
		if (what == 0)
			MPI_Put(out, n, MPI_DOUBLE, target, at, n, MPI_DOUBLE, window);
		else if (what == 1)
			MPI_Get(in, n, MPI_DOUBLE, target, at, n, MPI_DOUBLE, window);
		else
			MPI_Accumulate(out, n, MPI_DOUBLE, target, at, n, MPI_DOUBLE, MPI_SUM, window);
	}
	MPI_Win_fence(0, window);
}

int main(int argc, char **argv)
{
	if (argc != 3)
		return 2;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &me);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	state = strtoull(argv[1], NULL, 10);
	double *out = calloc(ELEMENTS, sizeof *out), *in = calloc(ELEMENTS, sizeof *in), *memory;
	MPI_Win window;
	MPI_Win_allocate(ELEMENTS * sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory,
			 &window);
	MPI_Comm comm;
	MPI_Comm_split(MPI_COMM_WORLD, me % 2, 0, &comm);
	for (int step = 0; step < 200; step++) {
		switch (pick(9)) {
		case 0:
		case 1:
			message(out, in);
			break;
		case 2:
			shift(out, in);
			break;
		case 3:
			persistent(out, in);
			break;
		case 4:
			column(out, in);
			break;
		case 5:
			rooted(out, in);
			break;
		case 6:
			pick(2) ? uneven(out, in) : everybody(out, in);
			break;
		case 7:
			half(out, in, comm);
			break;
		case 8:
			one_sided(out, in, window);
			break;
		}
	}
	MPI_Comm_free(&comm);
	MPI_Win_free(&window);
	if (me == 0) {
		FILE *file = fopen(argv[2], "w");
		for (int kind = 0; kind < KINDS; kind++)
			for (int from = 0; from < size; from++)
				for (int to = 0; to < size; to++)
					if (count[kind][from][to])
						fprintf(file, "rank %d,rank %d,%s,%ld,%ld\n", from, to,
							names[kind], count[kind][from][to],
							bytes[kind][from][to]);
		fclose(file);
	}
	MPI_Finalize();
	free(out);
	free(in);
	return 0;
}

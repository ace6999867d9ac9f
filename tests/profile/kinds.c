/* Every way to move something, each of a size of its own, so that the table tells what is wrong:
 * `kinds OUT` writes what each kind, source and target must have moved, by the standard's
 * definitions. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PP, COLL, RMA, KINDS, MOST = 16, ROOM = 1 << 19 };
static const char *const names[KINDS] = { "point-to-point", "collective", "rma" };
static long count[KINDS][MOST][MOST], bytes[KINDS][MOST][MOST];
static int me, size;
static char *out, *in;

static void m(int kind, int from, int to, long n, long b) { count[kind][from][to] += n; bytes[kind][from][to] += b; }
#define EACH(i) for (int i = 0; i < size; i++)

static void modes(void)
{
	int next = (me + 1) % size, prev = (me + size - 1) % size;
	static char buffer[1 << 16];
	MPI_Request r[2], q;
	MPI_Buffer_attach(buffer, sizeof buffer);
	MPI_Irecv(in, 100, MPI_INT, prev, 1, MPI_COMM_WORLD, &r[0]);
	MPI_Bsend(out, 11, MPI_INT, next, 1, MPI_COMM_WORLD);
	MPI_Wait(r, MPI_STATUS_IGNORE);
	MPI_Irecv(in, 100, MPI_INT, prev, 1, MPI_COMM_WORLD, &r[0]);
	MPI_Ssend(out, 13, MPI_INT, next, 1, MPI_COMM_WORLD);
	MPI_Wait(r, MPI_STATUS_IGNORE);
	MPI_Irecv(in, 100, MPI_INT, prev, 1, MPI_COMM_WORLD, &r[0]);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Rsend(out, 17, MPI_INT, next, 1, MPI_COMM_WORLD);
	MPI_Wait(r, MPI_STATUS_IGNORE);
	MPI_Irecv(in, 100, MPI_INT, prev, 1, MPI_COMM_WORLD, &r[0]);
	MPI_Issend(out, 19, MPI_INT, next, 1, MPI_COMM_WORLD, &r[1]);
	MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
	MPI_Irecv(in, 100, MPI_INT, prev, 1, MPI_COMM_WORLD, &r[0]);
	MPI_Ibsend(out, 23, MPI_INT, next, 1, MPI_COMM_WORLD, &r[1]);
	MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
	MPI_Irecv(in, 100, MPI_INT, prev, 1, MPI_COMM_WORLD, &r[0]);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Irsend(out, 29, MPI_INT, next, 1, MPI_COMM_WORLD, &r[1]);
	MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
	EACH(i) m(PP, i, (i + 1) % size, 6, 4 * (11 + 13 + 17 + 19 + 23 + 29));
	for (int k = 0; k < 3; k++) {
		int (*init[3])(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *) = { MPI_Bsend_init, MPI_Ssend_init, MPI_Rsend_init };
		MPI_Recv_init(in, 100, MPI_SHORT, prev, 2, MPI_COMM_WORLD, &r[0]);
		init[k](out, 7, MPI_SHORT, next, 2, MPI_COMM_WORLD, &r[1]);
		for (int t = 0; t < 3; t++) {
			MPI_Start(&r[0]);
			MPI_Barrier(MPI_COMM_WORLD);
			MPI_Startall(1, &r[1]);
			MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
		}
		MPI_Request_free(&r[0]);
		MPI_Request_free(&r[1]);
	}
	EACH(i) m(PP, i, (i + 1) % size, 9, 9 * 14);
	MPI_Sendrecv_replace(in, 31, MPI_CHAR, next, 3, prev, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	EACH(i) m(PP, i, (i + 1) % size, 1, 31);
	/* From and to nobody. */
	MPI_Sendrecv(out, 31, MPI_CHAR, MPI_PROC_NULL, 3, in, 31, MPI_CHAR, MPI_PROC_NULL, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Isend(out, 31, MPI_CHAR, MPI_PROC_NULL, 3, MPI_COMM_WORLD, &q);
	MPI_Wait(&q, MPI_STATUS_IGNORE);
	MPI_Send_init(out, 31, MPI_CHAR, MPI_PROC_NULL, 3, MPI_COMM_WORLD, &q);
	MPI_Start(&q); MPI_Wait(&q, MPI_STATUS_IGNORE);
	MPI_Request_free(&q);
	/* Probed. */
	MPI_Status s;
	MPI_Message message;
	MPI_Isend(out, 37, MPI_CHAR, next, 4, MPI_COMM_WORLD, &q);
	MPI_Mprobe(MPI_ANY_SOURCE, 4, MPI_COMM_WORLD, &message, &s);
	MPI_Mrecv(in, 100, MPI_CHAR, &message, &s);
	MPI_Wait(&q, MPI_STATUS_IGNORE);
	MPI_Isend(out, 41, MPI_CHAR, next, 5, MPI_COMM_WORLD, &q);
	MPI_Probe(prev, MPI_ANY_TAG, MPI_COMM_WORLD, &s);
	MPI_Recv(in, 100, MPI_CHAR, s.MPI_SOURCE, s.MPI_TAG, MPI_COMM_WORLD, &s);
	MPI_Wait(&q, MPI_STATUS_IGNORE);
	EACH(i) m(PP, i, (i + 1) % size, 2, 37 + 41);
	/* Cancelled receives are none. */
	MPI_Irecv(in, 100, MPI_CHAR, prev, 99, MPI_COMM_WORLD, &q);
	MPI_Cancel(&q);
	MPI_Wait(&q, &s);
	/* Zero bytes count as messages. */
	MPI_Isend(NULL, 0, MPI_CHAR, next, 6, MPI_COMM_WORLD, &q);
	MPI_Recv(NULL, 0, MPI_CHAR, prev, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Wait(&q, MPI_STATUS_IGNORE);
	EACH(i) m(PP, i, (i + 1) % size, 1, 0);
	void *gone; int s2; MPI_Buffer_detach(&gone, &s2);
}

static void types(void)
{
	int next = (me + 1) % size, prev = (me + size - 1) % size;
	MPI_Datatype t[8];
	long b[8];
	int bl[3] = { 1, 2, 3 }, dp[3] = { 0, 4, 9 };
	MPI_Aint ad[3] = { 0, 32, 100 };
	MPI_Datatype ty[3] = { MPI_INT, MPI_DOUBLE, MPI_CHAR };
	MPI_Type_contiguous(5, MPI_INT, &t[0]); b[0] = 20;
	MPI_Type_indexed(3, bl, dp, MPI_DOUBLE, &t[1]); b[1] = 48;
	MPI_Type_create_struct(3, bl, ad, ty, &t[2]); b[2] = 4 + 16 + 3;
	int sz[2] = { 10, 12 }, sub[2] = { 3, 4 }, st[2] = { 2, 5 };
	MPI_Type_create_subarray(2, sz, sub, st, MPI_ORDER_FORTRAN, MPI_FLOAT, &t[3]); b[3] = 48;
	MPI_Type_create_hvector(4, 3, 50, MPI_SHORT, &t[4]); b[4] = 24;
	MPI_Type_create_resized(t[4], -8, 400, &t[5]); b[5] = 24;
	MPI_Type_create_indexed_block(3, 2, dp, t[0], &t[6]); b[6] = 120;
	int gs[1] = { 40 }, di[1] = { MPI_DISTRIBUTE_CYCLIC }, da[1] = { 3 }, ps[1] = { 2 };
	MPI_Type_create_darray(2, 0, 1, gs, di, da, ps, MPI_ORDER_C, MPI_INT, &t[7]);
	int ds; MPI_Type_size(t[7], &ds); b[7] = ds;
	for (int k = 0; k < 8; k++) {
		MPI_Type_commit(&t[k]);
		MPI_Sendrecv(out + 104, 2, t[k], next, 20 + k, in + 104, 2, t[k], prev, 20 + k, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		EACH(i) m(PP, i, (i + 1) % size, 1, 2 * b[k]);
	}
	MPI_Bcast(out, 3, t[1], size - 1, MPI_COMM_WORLD);
	EACH(i) if (i != size - 1) m(COLL, size - 1, i, 1, 3 * 48);
	for (int k = 0; k < 8; k++)
		MPI_Type_free(&t[k]);
	/* Pairs and packed. */
	MPI_Sendrecv(out, 3, MPI_DOUBLE_INT, next, 40, in, 3, MPI_DOUBLE_INT, prev, 40, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	EACH(i) m(PP, i, (i + 1) % size, 1, 36);
	int at = 0; char pack[64];
	MPI_Pack(out, 3, MPI_INT, pack, 64, &at, MPI_COMM_WORLD);
	MPI_Sendrecv(pack, at, MPI_PACKED, next, 41, in, 64, MPI_PACKED, prev, 41, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	EACH(i) m(PP, i, (i + 1) % size, 1, at);
}

static void collectives(void)
{
	int c[MOST], d[MOST], c2[MOST], d2[MOST], rc[MOST], k = size / 2;
	MPI_Request q;
	EACH(i) { c[i] = i + 1; d[i] = 40 * i; }
	/* v */
	MPI_Gatherv(out, me + 1, MPI_INT, in, c, d, MPI_INT, k, MPI_COMM_WORLD);
	MPI_Scatterv(out, c, d, MPI_INT, in, me + 1, MPI_INT, k, MPI_COMM_WORLD);
	MPI_Igatherv(out, me + 1, MPI_INT, in, c, d, MPI_INT, k, MPI_COMM_WORLD, &q); MPI_Wait(&q, MPI_STATUS_IGNORE);
	MPI_Iscatterv(out, c, d, MPI_INT, in, me + 1, MPI_INT, k, MPI_COMM_WORLD, &q); MPI_Wait(&q, MPI_STATUS_IGNORE);
	EACH(i) if (i != k) { m(COLL, i, k, 2, 8 * (i + 1)); m(COLL, k, i, 2, 8 * (i + 1)); }
	MPI_Allgatherv(out, me + 1, MPI_INT, in, c, d, MPI_INT, MPI_COMM_WORLD);
	MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_INT, in, c, d, MPI_INT, MPI_COMM_WORLD);
	MPI_Iallgatherv(out, me + 1, MPI_INT, in, c, d, MPI_INT, MPI_COMM_WORLD, &q); MPI_Wait(&q, MPI_STATUS_IGNORE);
	EACH(i) EACH(j) if (i != j) m(COLL, i, j, 3, 12 * (i + 1));
	MPI_Allgather(MPI_IN_PLACE, 0, MPI_INT, in, 3, MPI_INT, MPI_COMM_WORLD);
	EACH(i) EACH(j) if (i != j) m(COLL, i, j, 1, 12);
	/* i to j: i + 2 j + 1, if both are odd nothing. */
	EACH(j) { c[j] = me % 2 && j % 2 ? 0 : me + 2 * j + 1; c2[j] = me % 2 && j % 2 ? 0 : j + 2 * me + 1; d[j] = d2[j] = 100 * j; }
	MPI_Alltoallv(out, c, d, MPI_SHORT, in, c2, d2, MPI_SHORT, MPI_COMM_WORLD);
	MPI_Ialltoallv(out, c, d, MPI_SHORT, in, c2, d2, MPI_SHORT, MPI_COMM_WORLD, &q); MPI_Wait(&q, MPI_STATUS_IGNORE);
	EACH(i) EACH(j) if (i != j && !(i % 2 && j % 2)) m(COLL, i, j, 2, 4 * (i + 2 * j + 1));
	MPI_Datatype ts[MOST], tr[MOST];
	EACH(j) { ts[j] = (me + j) % 2 ? MPI_INT : MPI_DOUBLE; tr[j] = ts[j]; d[j] = d2[j] = 800 * j; c[j] = me + 1; c2[j] = j + 1; }
	MPI_Alltoallw(out, c, d, ts, in, c2, d2, tr, MPI_COMM_WORLD);
	MPI_Ialltoallw(out, c, d, ts, in, c2, d2, tr, MPI_COMM_WORLD, &q); MPI_Wait(&q, MPI_STATUS_IGNORE);
	EACH(i) EACH(j) if (i != j) m(COLL, i, j, 2, 2 * (i + 1) * ((i + j) % 2 ? 4 : 8));
	EACH(j) { c[j] = me + j + 1; d[j] = 100 * j; }
	MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_SHORT, in, c, d, MPI_SHORT, MPI_COMM_WORLD);
	EACH(i) EACH(j) if (i != j) m(COLL, i, j, 1, 2 * (i + j + 1));
	EACH(j) { c[j] = me + j + 1; d[j] = 400 * j; ts[j] = MPI_FLOAT; }
	MPI_Alltoallw(MPI_IN_PLACE, NULL, NULL, NULL, in, c, d, ts, MPI_COMM_WORLD);
	EACH(i) EACH(j) if (i != j) m(COLL, i, j, 1, 4 * (i + j + 1));
	MPI_Alltoall(MPI_IN_PLACE, 0, MPI_INT, in, 2, MPI_INT, MPI_COMM_WORLD);
	EACH(i) EACH(j) if (i != j) m(COLL, i, j, 1, 8);
	/* Rooted, in place. */
	if (me == k) {
		MPI_Gather(MPI_IN_PLACE, 0, MPI_INT, in, 3, MPI_INT, k, MPI_COMM_WORLD);
		MPI_Scatter(out, 3, MPI_INT, MPI_IN_PLACE, 0, MPI_INT, k, MPI_COMM_WORLD);
		MPI_Reduce(MPI_IN_PLACE, in, 3, MPI_INT, MPI_SUM, k, MPI_COMM_WORLD);
	} else {
		MPI_Gather(out, 3, MPI_INT, NULL, 0, MPI_INT, k, MPI_COMM_WORLD);
		MPI_Scatter(NULL, 0, MPI_INT, in, 3, MPI_INT, k, MPI_COMM_WORLD);
		MPI_Reduce(out, NULL, 3, MPI_INT, MPI_SUM, k, MPI_COMM_WORLD);
	}
	EACH(i) if (i != k) { m(COLL, i, k, 2, 24); m(COLL, k, i, 1, 12); }
	memset(in, 0, ROOM);
	memset(out, 0, ROOM);
	MPI_Allreduce(MPI_IN_PLACE, in, 5, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	MPI_Iallreduce(out, in, 5, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &q); MPI_Wait(&q, MPI_STATUS_IGNORE);
	EACH(i) EACH(j) if (i != j) m(COLL, i, j, 2, 80);
	MPI_Scan(MPI_IN_PLACE, in, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	MPI_Exscan(out, in, 3, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	MPI_Iexscan(MPI_IN_PLACE, in, 4, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &q); MPI_Wait(&q, MPI_STATUS_IGNORE);
	EACH(i) for (int j = i + 1; j < size; j++) m(COLL, i, j, 3, 36);
	EACH(i) rc[i] = i + 2;
	long sum = 0; EACH(i) sum += rc[i];
	MPI_Reduce_scatter(out, in, rc, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	MPI_Reduce_scatter(MPI_IN_PLACE, in, rc, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	MPI_Reduce_scatter_block(MPI_IN_PLACE, in, 3, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	EACH(i) EACH(j) if (i != j) m(COLL, i, j, 3, 8 * rc[j] + 12);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Bcast(out, 0, MPI_INT, 0, MPI_COMM_WORLD);
}

static void neighbours(void)
{
	MPI_Comm cart, graph;
	int dims[1] = { size }, per[1] = { 0 }, n[4], c[2], d[2];
	MPI_Request q;
	/* A line that is not a ring. */
	MPI_Cart_create(MPI_COMM_WORLD, 1, dims, per, 0, &cart);
	MPI_Neighbor_allgather(out, 5, MPI_INT, in, 5, MPI_INT, cart);
	MPI_Neighbor_alltoall(out, 5, MPI_INT, in, 5, MPI_INT, cart);
	MPI_Ineighbor_alltoall(out, 5, MPI_INT, in, 5, MPI_INT, cart, &q); MPI_Wait(&q, MPI_STATUS_IGNORE);
	for (int i = 0; i + 1 < size; i++) { m(COLL, i, i + 1, 3, 60); m(COLL, i + 1, i, 3, 60); }
	c[0] = 1; c[1] = 2; d[0] = 0; d[1] = 50;     /* 1 to the left, 2 to the right */
	int c2[2] = { 2, 1 };
	MPI_Neighbor_alltoallv(out, c, d, MPI_INT, in, c2, d, MPI_INT, cart);
	for (int i = 0; i + 1 < size; i++) { m(COLL, i, i + 1, 1, 8); m(COLL, i + 1, i, 1, 4); }
	MPI_Comm_free(&cart);
	/* A ring, of which two ranks are each other's both neighbours; pairs as a graph, in another order
	 * of ranks. */
	MPI_Comm rev;
	int ends[MOST], edges[MOST], known = 0;
	per[0] = 1;
	MPI_Cart_create(MPI_COMM_WORLD, 1, dims, per, 0, &cart);
	MPI_Neighbor_alltoall(out, 3, MPI_INT, in, 3, MPI_INT, cart);
	MPI_Comm_free(&cart);
	MPI_Comm_split(MPI_COMM_WORLD, 0, -me, &rev);
	EACH(i) {
		if ((i ^ 1) < size) { edges[known++] = i ^ 1; m(COLL, size - 1 - i, size - 1 - (i ^ 1), 1, 8); }
		ends[i] = known;
	}
	MPI_Graph_create(rev, size, ends, edges, 0, &graph);
	MPI_Neighbor_allgather(out, 2, MPI_INT, in, 2, MPI_INT, graph);
	MPI_Bcast(out, 4, MPI_INT, 1, rev);
	EACH(i) {
		m(COLL, i, (i + 1) % size, 1, 12);
		m(COLL, i, (i + size - 1) % size, 1, 12);
		if (i != size - 2) m(COLL, size - 2, i, 1, 16);
	}
	MPI_Comm_free(&graph);
	MPI_Comm_free(&rev);
	/* Each sends to the next two. */
	int from[2] = { (me + size - 1) % size, (me + 2 * size - 2) % size }, to[2] = { (me + 1) % size, (me + 2) % size };
	MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, from, MPI_UNWEIGHTED, 2, to, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph);
	n[0] = from[0] + 1; n[1] = from[1] + 1;
	MPI_Neighbor_allgatherv(out, me + 1, MPI_INT, in, n, d, MPI_INT, graph);
	EACH(i) { if (size > 1) m(COLL, i, (i + 1) % size, 1, 4 * (i + 1)); if ((i + 2) % size != i) m(COLL, i, (i + 2) % size, 1, 4 * (i + 1)); }
	MPI_Aint wd[2] = { 0, 400 };
	MPI_Datatype t[2] = { MPI_INT, MPI_DOUBLE };
	int one[2] = { 1, 1 };
	MPI_Neighbor_alltoallw(out, one, wd, t, in, one, wd, t, graph);
	EACH(i) { if (size > 1) m(COLL, i, (i + 1) % size, 1, 4); if ((i + 2) % size != i) m(COLL, i, (i + 2) % size, 1, 8); }
	MPI_Comm_free(&graph);
}

/* What differs from rank to rank, to another group; its last rank is the root. */
static void uneven(MPI_Comm both, int low, int first)
{
	int c[MOST], d[MOST], r[MOST], last = size - 1, others = low ? size - first : first, from = low ? first : 0;
	int root = low ? last - first : me == last ? MPI_ROOT : MPI_PROC_NULL;
	for (int j = 0; j < others; j++) { c[j] = from + j + 1; d[j] = 40 * j; }
	MPI_Scatter(out, 3, MPI_INT, in, 3, MPI_INT, root, both);
	MPI_Reduce(out, in, 5, MPI_INT, MPI_SUM, root, both);
	MPI_Gatherv(out, me + 1, MPI_INT, in, c, d, MPI_INT, root, both);
	MPI_Scatterv(out, c, d, MPI_INT, in, me + 1, MPI_INT, root, both);
	for (int i = 0; i < first; i++) {
		m(COLL, last, i, 2, 12 + 4 * (i + 1));
		m(COLL, i, last, 2, 20 + 4 * (i + 1));
	}
	MPI_Allgatherv(out, me + 1, MPI_INT, in, c, d, MPI_INT, both);
	/* i to j: i + 2 j + 1. */
	for (int j = 0; j < others; j++) { c[j] = me + 2 * (from + j) + 1; r[j] = from + j + 2 * me + 1; d[j] = 200 * j; }
	MPI_Alltoallv(out, c, d, MPI_SHORT, in, r, d, MPI_SHORT, both);
	for (int i = 0; i < first; i++)
		for (int j = first; j < size; j++) {
			m(COLL, i, j, 2, 4 * (i + 1) + 2 * (i + 2 * j + 1));
			m(COLL, j, i, 2, 4 * (j + 1) + 2 * (j + 2 * i + 1));
		}
}

static void inter(void)
{
	if (size < 2) return;
	MPI_Comm half, both;
	int low = me < (size + 1) / 2, first = (size + 1) / 2;
	MPI_Comm_split(MPI_COMM_WORLD, low, me, &half);
	MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, low ? first : 0, 77, &both);
	int mine; MPI_Comm_rank(half, &mine);
	/* The root is the second group's first. */
	MPI_Bcast(out, 6, MPI_INT, low ? 0 : mine == 0 ? MPI_ROOT : MPI_PROC_NULL, both);
	MPI_Gather(out, low ? 7 : 0, MPI_INT, in, low ? 0 : 7, MPI_INT, low ? 0 : mine == 0 ? MPI_ROOT : MPI_PROC_NULL, both);
	MPI_Allgather(out, low ? 8 : 9, MPI_INT, in, low ? 9 : 8, MPI_INT, both);
	MPI_Alltoall(out, 2, MPI_INT, in, 2, MPI_INT, both);
	MPI_Allreduce(out, in, 3, MPI_INT, MPI_SUM, both);
	/* Counts are those of the own group's blocks; both groups have as many elements in all. */
	int others = size - first, blocks[MOST];
	EACH(i) blocks[i] = low ? others : first;
	MPI_Reduce_scatter(out, in, blocks, MPI_INT, MPI_SUM, both);
	MPI_Reduce_scatter_block(out, in, low ? others : first, MPI_INT, MPI_SUM, both);
	for (int i = 0; i < first; i++)
		for (int j = first; j < size; j++) {
			m(COLL, i, j, 2, 8 * first);
			m(COLL, j, i, 2, 8 * others);
		}
	for (int i = 0; i < first; i++) {
		m(COLL, first, i, 1, 24);
		m(COLL, i, first, 1, 28);
		for (int j = first; j < size; j++) {
			m(COLL, i, j, 3, 32 + 8 + 12);
			m(COLL, j, i, 3, 36 + 8 + 12);
		}
	}
	uneven(both, low, first);
	if (low && mine == 0) MPI_Send(out, 10, MPI_INT, 0, 1, both);
	if (!low && mine == 0) MPI_Recv(in, 10, MPI_INT, 0, 1, both, MPI_STATUS_IGNORE);
	m(PP, 0, first, 1, 40);
	MPI_Comm_free(&both);
	MPI_Comm_free(&half);
}

static void rma(void)
{
	MPI_Win w;
	double *base;
	int next = (me + 1) % size;
	MPI_Request r[4];
	MPI_Win_allocate(8000, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &w);
	memset(base, 0, 8000);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Win_lock_all(0, w);
	MPI_Rput(out, 10, MPI_DOUBLE, next, 0, 10, MPI_DOUBLE, w, &r[0]);
	MPI_Wait(r, MPI_STATUS_IGNORE); MPI_Win_flush_all(w);
	MPI_Rget(in, 11, MPI_DOUBLE, next, 100, 11, MPI_DOUBLE, w, &r[1]);
	MPI_Wait(&r[1], MPI_STATUS_IGNORE);
	MPI_Raccumulate(out, 12, MPI_DOUBLE, next, 200, 12, MPI_DOUBLE, MPI_SUM, w, &r[2]);
	MPI_Wait(&r[2], MPI_STATUS_IGNORE); MPI_Win_flush_all(w);
	MPI_Rget_accumulate(out, 13, MPI_DOUBLE, in, 13, MPI_DOUBLE, next, 300, 13, MPI_DOUBLE, MPI_SUM, w, &r[3]);
	MPI_Wait(&r[3], MPI_STATUS_IGNORE); MPI_Win_flush_all(w);
	MPI_Get_accumulate(NULL, 0, MPI_DOUBLE, in, 14, MPI_DOUBLE, next, 400, 14, MPI_DOUBLE, MPI_NO_OP, w);
	MPI_Win_flush_all(w);
	long one = 1, old, was = 0;
	MPI_Fetch_and_op(&one, &old, MPI_LONG, next, 500, MPI_SUM, w);
	MPI_Win_flush_all(w);
	MPI_Fetch_and_op(NULL, &old, MPI_LONG, next, 500, MPI_NO_OP, w);
	MPI_Win_flush_all(w);
	MPI_Compare_and_swap(&one, &was, &old, MPI_LONG, next, 501, w);
	MPI_Win_flush_all(w);
	MPI_Put(out, 10, MPI_DOUBLE, MPI_PROC_NULL, 0, 10, MPI_DOUBLE, w);
	MPI_Win_unlock_all(w);
	MPI_Win_free(&w);
	EACH(i) {
		int n = (i + 1) % size;
		m(RMA, i, n, 3, 8 * (10 + 12 + 13));
		m(RMA, n, i, 3, 8 * (11 + 13 + 14));
		m(RMA, i, n, 1, 8); m(RMA, n, i, 1, 8);       /* fetch_and_op */
		m(RMA, n, i, 1, 8);                             /* NO_OP */
		m(RMA, i, n, 2, 8 * 2); m(RMA, n, i, 1, 8);        /* compare and swap */
	}
}

#if MPI_VERSION >= 4
static void four(void)
{
	int next = (me + 1) % size, prev = (me + size - 1) % size;
	MPI_Request r[2];
	MPI_Psend_init(out, 4, 5, MPI_INT, next, 9, MPI_COMM_WORLD, MPI_INFO_NULL, &r[0]);
	MPI_Precv_init(in, 2, 10, MPI_INT, prev, 9, MPI_COMM_WORLD, MPI_INFO_NULL, &r[1]);
	for (int t = 0; t < 2; t++) {
		MPI_Startall(2, r);
		for (int p = 0; p < 4; p++) MPI_Pready(p, r[0]);
		MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
	}
	MPI_Request_free(&r[0]); MPI_Request_free(&r[1]);
	EACH(i) m(PP, i, (i + 1) % size, 2, 160);
	MPI_Allreduce_init(out, in, 5, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &r[0]);
	MPI_Bcast_init(out + 4096, 5, MPI_INT, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &r[1]);
	for (int t = 0; t < 3; t++) { MPI_Startall(2, r); MPI_Waitall(2, r, MPI_STATUSES_IGNORE); }
	MPI_Request_free(&r[0]); MPI_Request_free(&r[1]);
	EACH(i) EACH(j) if (i != j) { m(COLL, i, j, 3, 60); if (i == 0) m(COLL, i, j, 3, 60); }
	MPI_Isendrecv(out, 6, MPI_INT, next, 10, in, 6, MPI_INT, prev, 10, MPI_COMM_WORLD, r); MPI_Wait(r, MPI_STATUS_IGNORE);
	MPI_Isendrecv_replace(out, 6, MPI_INT, next, 10, prev, 10, MPI_COMM_WORLD, r); MPI_Wait(r, MPI_STATUS_IGNORE);
	MPI_Send_c(out, 0, MPI_INT, MPI_PROC_NULL, 10, MPI_COMM_WORLD);
	MPI_Sendrecv_c(out, 6, MPI_INT, next, 10, in, 6, MPI_INT, prev, 10, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	EACH(i) m(PP, i, (i + 1) % size, 3, 72);
}
#endif

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &me);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	out = calloc(1, ROOM);
	in = calloc(1, ROOM);
	/* Open MPI 4.1 crashes in some one-sided calls. */
	const char *which = argc > 2 ? argv[2] : "mtcnirf";
	if (strchr(which, 'm')) modes();
	if (strchr(which, 't')) types();
	if (strchr(which, 'c')) collectives();
	if (strchr(which, 'n')) neighbours();
	if (strchr(which, 'i')) inter();
	if (strchr(which, 'r')) rma();
#if MPI_VERSION >= 4
	if (strchr(which, 'f')) four();
#endif
	if (me == 0) {
		FILE *f = fopen(argv[1], "w");
		for (int k = 0; k < KINDS; k++) EACH(i) EACH(j)
			if (count[k][i][j])
				fprintf(f, "rank %d,rank %d,%s,%ld,%ld\n", i, j, names[k], count[k][i][j], bytes[k][i][j]);
		fclose(f);
	}
	MPI_Finalize();
	return 0;
}

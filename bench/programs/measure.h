/* How all programs here measure: blocks of about 2 ms for a given time, and the median block.
 * Interruptions then cost a few blocks, not the result. */
#ifndef MEASURE_H
#define MEASURE_H

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define BLOCK 0.002
enum { MAX_BLOCKS = 10000 };

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Runs `work(times)` in blocks on all ranks; returns the median seconds of one repetition. Rank 0
 * decides how often, so that all ranks do the same. */
static double measure(void (*work)(int times), double seconds) {
  static double block[MAX_BLOCKS];
  int times = 1, blocks = 0, more = 1;
  work(1);
  for (double spent = 0; spent < BLOCK; times *= 2) {
    double begin = MPI_Wtime();
    work(times);
    spent = MPI_Wtime() - begin;
    MPI_Bcast(&spent, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    if (spent >= BLOCK) break;
  }
  for (double start = MPI_Wtime(); more; blocks++) {
    double begin = MPI_Wtime();
    work(times);
    double end = MPI_Wtime();
    block[blocks] = (end - begin) / times;
    more = end - start < seconds && blocks + 1 < MAX_BLOCKS;
    MPI_Bcast(&more, 1, MPI_INT, 0, MPI_COMM_WORLD);
  }
  qsort(block, (size_t)blocks, sizeof *block, ascending);
  return block[blocks / 2];
}

/* The line that bench/run.py looks for. */
static void print_measured(double seconds) {
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) printf("measured %.9e s\n", seconds);
}

#endif

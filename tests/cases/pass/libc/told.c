/* Times and names are written into the buffers of sends before these begin; a last word, which
 * needs no terminator, is looked for while its text is sent. */
#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static struct timeval day;
static struct timespec clock_time;
static time_t now;
static char name[64], date[64], words[64] = "one two three";
static struct stat file;

int main(int argc, char **argv) {
  int rank;
  char *rest, *word;
  MPI_Request requests[7];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int other = 1 - rank;
  struct tm calendar;
  time_t begin = time(NULL);
  localtime_r(&begin, &calendar);
  word = strtok_r(words, " ", &rest);
  gettimeofday(&day, NULL);
  clock_gettime(CLOCK_MONOTONIC, &clock_time);
  time(&now);
  gethostname(name, sizeof name);
  strftime(date, sizeof date, "%Y", &calendar);
  word = strtok_r(NULL, " ", &rest);
  stat("/", &file);
  MPI_Isend(&day, sizeof day, MPI_BYTE, other, 0, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(&clock_time, sizeof clock_time, MPI_BYTE, other, 1, MPI_COMM_WORLD, &requests[1]);
  MPI_Isend(&now, sizeof now, MPI_BYTE, other, 2, MPI_COMM_WORLD, &requests[2]);
  MPI_Isend(name, sizeof name, MPI_BYTE, other, 3, MPI_COMM_WORLD, &requests[3]);
  MPI_Isend(date, sizeof date, MPI_BYTE, other, 4, MPI_COMM_WORLD, &requests[4]);
  MPI_Isend(words, sizeof words, MPI_BYTE, other, 5, MPI_COMM_WORLD, &requests[5]);
  MPI_Isend(&file, sizeof file, MPI_BYTE, other, 6, MPI_COMM_WORLD, &requests[6]);
  word = strtok_r(NULL, " ", &rest);
  static char in[4096];
  for (int tag = 0; tag < 7; tag++)
    MPI_Recv(in, sizeof in, MPI_BYTE, other, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Waitall(7, requests, MPI_STATUSES_IGNORE);
  printf("%s\n", word);
  MPI_Finalize();
  return 0;
}

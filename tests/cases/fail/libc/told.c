/* Times and names are written into the buffers of pending sends. */
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
  MPI_Isend(&day, sizeof day, MPI_BYTE, other, 0, MPI_COMM_WORLD, &requests[0]);               //~ CS-BUF-01 operation
  MPI_Isend(&clock_time, sizeof clock_time, MPI_BYTE, other, 1, MPI_COMM_WORLD, &requests[1]); //~ CS-BUF-01 operation
  MPI_Isend(&now, sizeof now, MPI_BYTE, other, 2, MPI_COMM_WORLD, &requests[2]);               //~ CS-BUF-01 operation
  MPI_Isend(name, sizeof name, MPI_BYTE, other, 3, MPI_COMM_WORLD, &requests[3]);              //~ CS-BUF-01 operation
  MPI_Isend(date, sizeof date, MPI_BYTE, other, 4, MPI_COMM_WORLD, &requests[4]);              //~ CS-BUF-01 operation
  MPI_Isend(words, sizeof words, MPI_BYTE, other, 5, MPI_COMM_WORLD, &requests[5]);            //~ CS-BUF-01 operation
  MPI_Isend(&file, sizeof file, MPI_BYTE, other, 6, MPI_COMM_WORLD, &requests[6]);             //~ CS-BUF-01 operation
  gettimeofday(&day, NULL);                         //~ CS-BUF-01 access
  clock_gettime(CLOCK_MONOTONIC, &clock_time);      //~ CS-BUF-01 access
  time(&now);                                       //~ CS-BUF-01 access
  gethostname(name, sizeof name);                   //~ CS-BUF-01 access
  strftime(date, sizeof date, "%Y", &calendar);     //~ CS-BUF-01 access
  word = strtok_r(NULL, " ", &rest);                //~ CS-BUF-01 access
  stat("/", &file);                                 //~ CS-BUF-01 access
  static char in[4096];
  for (int tag = 0; tag < 7; tag++)
    MPI_Recv(in, sizeof in, MPI_BYTE, other, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Waitall(7, requests, MPI_STATUSES_IGNORE);
  printf("%s\n", word);
  MPI_Finalize();
  return 0;
}

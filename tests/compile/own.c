/* A program may have functions that are called like those of libc; they are not libc's. */
#include "harness.h"

int getline(char *line, int room);
int send(int to, double *values, int count);

int main(void) {
  begin();
  CHECK(getline((char *)3, 4) == 7);
  CHECK(send(3, (double *)area, 100) == 100);
  end();
  nothing_else();
  return finish();
}

/* A library with hooks of its own, loaded by a program that may have none. */
#include <stdio.h>
#include <string.h>

static char buffer[100];

__attribute__((constructor(101))) static void early(void) { memcpy(buffer, "early", 6); }

int library_call(int n) {
  char text[20];
  snprintf(text, sizeof text, "%s %d", buffer, n);
  puts(text);
  return (int)strlen(text);
}

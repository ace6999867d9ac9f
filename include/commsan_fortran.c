/* commsan.h for Fortran: compile this file with the program, then
 *
 *   call commsan_name(u, "temperature")
 *   call commsan_begin("exchange")
 *   call commsan_end()
 *
 * Names are those that gfortran and flang make of external procedures; texts come with their
 * length, as the last argument.
 */
#include "commsan.h"

#include <stddef.h>
#include <string.h>

enum { LONGEST = 255 };

/* A Fortran text without its trailing blanks, as C has it. */
static const char *text(char *buffer, const char *text, size_t length)
{
	while (length > 0 && text[length - 1] == ' ')
		length--;
	if (length > LONGEST)
		length = LONGEST;
	memcpy(buffer, text, length);
	buffer[length] = '\0';
	return buffer;
}

void commsan_name_(const void *address, const char *name, size_t length)
{
	char buffer[LONGEST + 1];
	commsan_name(address, text(buffer, name, length));
}

void commsan_begin_(const char *region, size_t length)
{
	char buffer[LONGEST + 1];
	commsan_begin(text(buffer, region, length));
}

void commsan_end_(void)
{
	commsan_end();
}

/* Names for what commsan's profile shows: memory, and parts of the program.
 *
 * There is nothing to link. Under `commsan profile` the calls count; otherwise each is a test of a
 * pointer. For Fortran, see commsan_fortran.c beside this file.
 *
 *   double *u = malloc(n * sizeof *u);
 *   commsan_name(u, "temperature");
 *   commsan_begin("exchange");
 *   ...
 *   commsan_end();
 */
#ifndef COMMSAN_H
#define COMMSAN_H

#ifdef __cplusplus
extern "C" {
#endif

/* Functions of commsan's runtime, null where that is not loaded. */
__attribute__((weak)) void commsan_api_name(const void *address, const char *name);
__attribute__((weak)) void commsan_api_begin(const char *region);
__attribute__((weak)) void commsan_api_end(void);

/* The memory that `address` lies in (host or device) is shown under this name. */
static inline void commsan_name(const void *address, const char *name)
{
	if (commsan_api_name)
		commsan_api_name(address, name);
}

/* A region of the program begins. Regions may lie in each other; the innermost counts. They are
 * those of the process, whatever thread begins them. */
static inline void commsan_begin(const char *region)
{
	if (commsan_api_begin)
		commsan_api_begin(region);
}

/* The region that began last ends. */
static inline void commsan_end(void)
{
	if (commsan_api_end)
		commsan_api_end();
}

#ifdef __cplusplus
}
#endif

#endif

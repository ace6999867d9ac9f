/* Stands in for the runtime: records what the hooks report, so that tests can say exactly what
 * they expect. Compiled without instrumentation, linked into instrumented programs. */
#ifndef HARNESS_H
#define HARNESS_H

#include <stddef.h>
#include <stdint.h>

/* Three pages that are watched for reads and writes, filled with 'x' by `begin`. */
extern char area[3 * 4096];

/* Forgets all records and starts watching the area. */
void begin(void);
/* Like `begin`, but watches only these eight bytes of the area, for writes or, if an operation
 * `received` there, for all accesses. */
void begin_with(const void *granule, int received);
/* From now on it is said that no operation is live, though the area is still watched; or that one
 * is. What asks before it begins is not watched any more, and what asks at each access still is. */
void set_live(int live);
/* So many threads and parallel regions beside the first thread. */
void set_parallel(int count);
/* From now on others may access the area: what is done to it is noted. */
void expose(void);
/* Whether a read, or a write, of a byte has been noted. */
int is_noted(int write, const void *p);
/* The largest number of bytes that were noted by one place at once, before notes of it were
 * possible without the runtime. */
size_t noted_at_once(void);
/* What tells the granules of a page that operations read, and then of those they write. */
uint64_t *granules_of(const void *p);
/* Watches memory outside the area, too; `end` does not undo that, `unwatch` does. */
void watch(const void *p, size_t size);
void unwatch(const void *p, size_t size);
/* Where a float is to be stored, and which, so that the area is watched from then on. */
float *watching(float *value);
/* The area is known as a block of heap from now on, and so is this. */
void know_block(const void *start, size_t size);
/* From now on only which bytes of the area were touched is recorded, however often. */
void record_touches(void);
/* Stops watching; what follows is not recorded. */
void end(void);

/* One access with exactly these facts was recorded; it is taken off the records. `by` is NULL for
 * plain accesses. */
void expect_at(int line, int write, const void *p, size_t size, const char *by);
#define expect_read(p, size, by) expect_at(__LINE__, 0, p, size, by)
#define expect_write(p, size, by) expect_at(__LINE__, 1, p, size, by)

/* The recorded reads, or writes, touch exactly these bytes, however they are split up. */
void cover_at(int line, int write, const void *p, size_t size);
#define cover_read(p, size) cover_at(__LINE__, 0, p, size)
#define cover_write(p, size) cover_at(__LINE__, 1, p, size)

/* How many accesses of the kind touch a byte; they stay on the records. */
int touches(int write, const void *p);

/* Nothing else was recorded. */
void nothing_at(int line);
#define nothing_else() nothing_at(__LINE__)

/* Where the last access came from, as reported. */
extern const void *last_pc, *last_frame;
/* Frames that returned while stack checks were on. */
extern const void *left[16];
extern int left_count;
void watch_returns(int on);

void fail_at(int line, const char *what);
#define CHECK(condition) ((condition) ? (void)0 : fail_at(__LINE__, #condition))

/* Ends the test program. */
int finish(void);

/* Hides a value from the optimiser. */
#define OPAQUE(v)                                                                                  \
  ({                                                                                               \
    __typeof__(1 ? (v) : (v)) opaque_ = (v);                                                       \
    __asm__ volatile("" : "+r"(opaque_));                                                          \
    opaque_;                                                                                       \
  })

#endif

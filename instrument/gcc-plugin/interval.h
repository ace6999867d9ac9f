/* Least and greatest values of expressions while a loop runs. */
#ifndef COMMSAN_INTERVAL_H
#define COMMSAN_INTERVAL_H

#include "plugin.h"

#include "tree-ssa-loop-ivopts.h"
#include "tree-ssa-loop.h"

/* Least and greatest value, as expressions of 64 bits without statements yet. */
struct interval {
  tree low, high;
};

static inline tree wide_type() { return long_unsigned_type_node; }
/* An operation on two of them. */
tree combine(tree_code code, tree a, tree b);

/* Expressions of deeper nesting are not looked into. */
static const int deepest = 24;

/* Finds what is known of a loop, with those inside, before it is entered. Numbers of 32 bits and
 * more are taken not to wrap around: an index that does would leave its array, if it is not reduced
 * by an operation of which nothing is known here, such as a remainder. */
class interval_finder {
public:
  explicit interval_finder(class loop *outer) : outer(outer) {}

  /* Whether an expression can be computed before the loop. */
  bool is_invariant(tree e) const;
  /* False if it is not known. `is_count` says that the value is a number of rounds, or of bytes. */
  bool find(tree e, bool is_count, interval *found, int depth = 0) const;
  /* Of memory: part of a variable that the loop does not change. */
  bool of_load(tree reference, interval *found) const;
  /* Whether the loop may change memory. */
  bool is_changed(tree reference) const;

private:
  class loop *outer;

  bool of_name(tree name, bool is_count, interval *found, int depth) const;
  bool of_address(tree e, bool is_count, interval *found, int depth) const;
  bool of_operation(tree_code code, tree type, tree first, tree second, bool is_count,
                    interval *found, int depth) const;
  bool of_progression(class loop *l, const affine_iv &iv, interval *found, int depth) const;
  bool find_rounds(class loop *l, interval *found, int depth) const;
  bool find_rounds_to(class loop *l, edge exit, interval *found, int depth) const;
};

/* Where memory is: `offset` bytes, and a variable number of bytes, from `base`. */
struct place_in_memory {
  tree base, variable_offset;
  HOST_WIDE_INT offset;
};
/* False for bit fields, and what is volatile or has another byte order. */
bool find_place(tree reference, place_in_memory *found);

#endif

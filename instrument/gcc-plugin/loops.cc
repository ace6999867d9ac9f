/* Loops without checks.
 *
 * An innermost loop without calls cannot start or end an operation, so its accesses can be queried
 * before it runs. If addresses change in constant steps, scalar evolution gives their range. The
 * loop is duplicated: the second copy has all checks, byte by byte; the first omits the checks of
 * these accesses, and runs if no byte of the ranges concerns an operation.
 *
 * Such a loop does not synchronise either, so all its accesses to memory that others may access
 * happen in one segment of time. For accesses in every iteration, their number and addresses are
 * known beforehand, to the byte. They are recorded then, and the first copy runs.
 *
 * The first copy does not see an operation that another thread starts while the loop runs.
 */
#include "plugin.h"

#include "../hooks/commsan_abi.h"

#include "cfgloopmanip.h"
#include "tree-into-ssa.h"
#include "tree-scalar-evolution.h"
#include "tree-ssa-loop.h"
#include "tree-ssa-loop-ivopts.h"
#include "tree-ssa-loop-manip.h"
#include "tree-ssa-loop-niter.h"

/* Limits: for few bytes of a page, many ranges, or few iterations, a query costs more than
 * checks. */
static const HOST_WIDE_INT widest_step = 256;
static const unsigned most_ranges = 8, most_sweeps = 16, most_blocks = 32, fewest_rounds = 8;

/* A value at the start of the loop, and the constant that each iteration adds. */
struct progression {
  tree start;
  HOST_WIDE_INT step;
};

/* Bytes around an address that moves, from `begin` up to `end`. */
struct memory_range {
  progression address;
  HOST_WIDE_INT begin, end;
  bool write;
  /* Whether sweeps describe all accesses to the range. */
  bool is_swept;
};

/* When an iteration executes a statement: not always; before the loop may exit; after that. */
enum moment { SOMETIMES, BEFORE_EXIT, AFTER_EXIT };

/* Exactly the bytes that a line accesses in every iteration. */
struct sweep {
  gimple *statement;
  memory_range range;
  moment when;
};

struct versioned_loop {
  class loop *loop;
  /* Number of returns to the loop's start, valid if the condition `are_known` holds. */
  tree rounds, are_known;
  vec<memory_range> ranges;
  vec<sweep> sweeps;
  /* Statements whose accesses are all in the ranges. */
  vec<gimple *> statements;

  void release() { ranges.release(), sweeps.release(), statements.release(); }
};

/* gcc 14 has a second result, that the expression overflows only on a condition. */
static ATTRIBUTE_UNUSED bool is_expensive(bool (*expensive)(tree), tree expression) {
  return expensive(expression);
}

static ATTRIBUTE_UNUSED bool is_expensive(bool (*expensive)(tree, bool *), tree expression) {
  bool overflows;
  return expensive(expression, &overflows);
}

/* Whether the expression can be computed at an earlier place. */
static bool is_movable(tree expression) {
  return !contains_abnormal_ssa_name_p(expression) &&
         !is_expensive(expression_expensive_p, expression) &&
         !generic_expr_could_trap_p(expression);
}

static bool evolve(class loop *l, tree expression, progression *found) {
  progression operands[2];
  auto operand = [&](unsigned i) { return evolve(l, TREE_OPERAND(expression, i), &operands[i]); };
  tree type = TREE_TYPE(expression);
  switch (TREE_CODE(expression)) {
  case SSA_NAME: {
    affine_iv iv;
    if (!simple_iv(l, l, expression, &iv, false) || !cst_and_fits_in_hwi(iv.step)) return false;
    *found = {iv.base, int_cst_value(iv.step)};
    return is_movable(iv.base);
  }
  case POINTER_PLUS_EXPR:
  case PLUS_EXPR:
    if (!operand(0) || !operand(1)) return false;
    *found = {fold_build2(TREE_CODE(expression), type, operands[0].start, operands[1].start),
              operands[0].step + operands[1].step};
    return true;
  case MULT_EXPR: {
    tree factor = TREE_OPERAND(expression, 1);
    if (TREE_CODE(factor) != INTEGER_CST || !operand(0)) return false;
    *found = {fold_build2(MULT_EXPR, type, operands[0].start, factor),
              operands[0].step * int_cst_value(factor)};
    return true;
  }
  CASE_CONVERT:
    if (TYPE_PRECISION(TREE_TYPE(TREE_OPERAND(expression, 0))) != TYPE_PRECISION(type)) return false;
    if (!operand(0)) return false;
    *found = {fold_convert(type, operands[0].start), operands[0].step};
    return true;
  default:
    *found = {expression, 0};
    return is_gimple_min_invariant(expression);
  }
}

static bool same_walk(const memory_range &a, const memory_range &b) {
  return a.write == b.write && a.address.step == b.address.step &&
         operand_equal_p(a.address.start, b.address.start, 0);
}

static void add_range(const memory_range &fresh, vec<memory_range> &ranges) {
  for (memory_range &r : ranges) {
    if (!same_walk(r, fresh)) continue;
    r.begin = MIN(r.begin, fresh.begin), r.end = MAX(r.end, fresh.end);
    r.is_swept &= fresh.is_swept;
    return;
  }
  ranges.safe_push(fresh);
}

static bool same_line(gimple *a, gimple *b) {
  const location_t one = place_of(a), other = place_of(b);
  return LOCATION_LINE(one) == LOCATION_LINE(other) && LOCATION_FILE(one) == LOCATION_FILE(other) &&
         LOCATION_BLOCK(one) == LOCATION_BLOCK(other);
}

/* Adds a sweep; merges neighbours of one line. */
static void add_sweep(const sweep &fresh, vec<sweep> &sweeps) {
  for (sweep &s : sweeps) {
    memory_range &r = s.range;
    if (s.when != fresh.when || !same_walk(r, fresh.range)) continue;
    if (fresh.range.begin > r.end || fresh.range.end < r.begin) continue;
    if (!same_line(s.statement, fresh.statement)) continue;
    r.begin = MIN(r.begin, fresh.range.begin), r.end = MAX(r.end, fresh.range.end);
    return;
  }
  sweeps.safe_push(fresh);
}

/* The ranges of a statement's accesses; false if it has none, or its addresses are irregular. */
static bool find_ranges(class loop *l, gimple *statement, moment when, vec<memory_range> &found) {
  auto_vec<memory_access> accesses;
  find_accesses(statement, accesses, accesses);
  bool is_swept = when != SOMETIMES;
  if (gcall *call = dyn_cast<gcall *>(statement)) {
    if (find_masked_span(call, accesses)) is_swept = false;
    else find_known_accesses(call, accesses);
  }
  for (const memory_access &a : accesses) {
    progression address;
    if (!a.size || !evolve(l, a.origin, &address)) return false;
    if (absu_hwi(address.step) > widest_step) return false;
    found.safe_push({address, a.offset, a.end(), a.write, is_swept});
  }
  return !found.is_empty();
}

static void add_statement(versioned_loop &v, gimple *statement, moment when,
                          hash_set<gimple *> &unchecked) {
  if (unchecked.contains(statement)) return;
  auto_vec<memory_range> ranges;
  if (!find_ranges(v.loop, statement, when, ranges)) return;
  for (const memory_range &r : ranges) {
    add_range(r, v.ranges);
    if (r.is_swept) add_sweep({statement, r, when}, v.sweeps);
  }
  v.statements.safe_push(statement);
}

static moment moment_of(class loop *l, basic_block block) {
  if (dominated_by_p(CDI_DOMINATORS, single_exit(l)->src, block)) return BEFORE_EXIT;
  return dominated_by_p(CDI_DOMINATORS, l->latch, block) ? AFTER_EXIT : SOMETIMES;
}

static bool find_all_ranges(versioned_loop &v, hash_set<gimple *> &unchecked) {
  basic_block *blocks = get_loop_body(v.loop);
  bool possible = true;
  for (unsigned i = 0; i < v.loop->num_nodes && possible; i++) {
    if (blocks[i]->flags & BB_IRREDUCIBLE_LOOP) possible = false;
    const moment when = moment_of(v.loop, blocks[i]);
    for (gimple_stmt_iterator s = gsi_start_bb(blocks[i]); !gsi_end_p(s); gsi_next(&s)) {
      gimple *statement = gsi_stmt(s);
      if (is_gimple_debug(statement)) continue;
      /* Assembly may define symbols, which must not be duplicated. */
      if (is_barrier(statement) || gimple_code(statement) == GIMPLE_ASM) possible = false;
      add_statement(v, statement, when, unchecked);
    }
  }
  free(blocks);
  if (v.sweeps.length() > most_sweeps) {
    v.sweeps.truncate(0);
    for (memory_range &r : v.ranges) r.is_swept = false;
  }
  return possible && !v.statements.is_empty() && v.ranges.length() <= most_ranges;
}

static bool count_rounds(versioned_loop &v) {
  tree_niter_desc iterations;
  gcond *test;
  edge exit = single_exit(v.loop);
  if (!exit || !number_of_iterations_exit_assumptions(v.loop, exit, &iterations, &test)) return false;
  tree rounds = iterations.niter, none = iterations.may_be_zero, type = long_unsigned_type_node;
  if (!is_movable(rounds) || !is_movable(none) || !is_movable(iterations.assumptions)) return false;
  if (tree_fits_uhwi_p(rounds) && tree_to_uhwi(rounds) < fewest_rounds) return false;
  if (TYPE_PRECISION(TREE_TYPE(rounds)) > TYPE_PRECISION(type)) return false;
  v.rounds = fold_build2(MULT_EXPR, type, fold_convert(type, rounds),
                         fold_convert(type, invert_truthvalue(none)));
  v.are_known = iterations.assumptions;
  return true;
}

static bool is_worth_two(class loop *l) {
  return l->num_nodes <= most_blocks && can_duplicate_loop_p(l) && !optimize_loop_for_size_p(l);
}

/* Addresses of the first and the last byte of a range. */
struct bounds {
  tree first, last;
  const memory_range *range;
};

static tree number(HOST_WIDE_INT n) { return build_int_cst(long_unsigned_type_node, n); }

static tree start_of(check_point &point, const memory_range &range) {
  return point.value(fold_convert(long_unsigned_type_node, unshare_expr(range.address.start)));
}

static bounds bounds_of(check_point &point, const memory_range &range, tree rounds) {
  auto compute = [&](tree_code code, tree a, tree b) {
    return point.value(fold_build2(code, long_unsigned_type_node, a, b));
  };
  tree start = start_of(point, range);
  tree way = compute(MULT_EXPR, rounds, number(range.address.step));
  tree finish = compute(PLUS_EXPR, start, way);
  if (range.address.step < 0) std::swap(start, finish);
  return {compute(PLUS_EXPR, start, number(range.begin)),
          compute(PLUS_EXPR, finish, number(range.end - 1)), &range};
}

/* Non-zero if the pages of the first and the last byte are not sufficient to decide. */
static tree may_concern(check_point &point, const bounds &b) {
  tree type = long_unsigned_type_node;
  tree hit = fold_convert(type, filter_hit(point, b.first, b.last, b.range->write));
  tree length = fold_build2(MINUS_EXPR, type, b.last, b.first);
  tree pages = fold_build2(RSHIFT_EXPR, type, length, build_int_cst(type, COMMSAN_PAGE_SHIFT));
  return point.value(fold_build2(BIT_IOR_EXPR, type, hit, pages));
}

/* Records the loop's accesses to a range beforehand. */
static void note(check_point &point, const sweep &s, tree rounds) {
  const memory_range &r = s.range;
  tree type = long_unsigned_type_node, times = rounds;
  if (s.when == BEFORE_EXIT) times = fold_build2(PLUS_EXPR, type, rounds, number(1));
  point.where = place_of(s.statement);
  tree start = fold_build2(PLUS_EXPR, type, start_of(point, r), number(r.begin));
  point.call(hook_declaration(r.write ? WRITE_SWEEP : READ_SWEEP),
             {start, times, number(r.address.step), number(r.end - r.begin)});
}

/* Determines, before the loop is entered, whether it needs no checks. */
static tree is_clear(const versioned_loop &v, hash_set<gimple *> &unchecked) {
  check_point point(loop_preheader_edge(v.loop), place_of(v.statements[0]));
  point.loads = &unchecked;
  tree type = long_unsigned_type_node;
  tree concern = point.load(type, header_field(offsetof(commsan_abi, live))), several = NULL_TREE;
  if (shares_memory(current_function_decl)) {
    several = point.load(type, header_field(offsetof(commsan_abi, parallel)));
    concern = point.value(fold_build2(BIT_IOR_EXPR, type, concern, several));
  }
  check_point pending = point.if_rarely(concern);

  auto_vec<bounds> all;
  tree rounds = pending.value(unshare_expr(v.rounds));
  tree clear = pending.value(fold_convert(type, unshare_expr(v.are_known)));
  tree unsettled = pending.value(fold_build2(BIT_XOR_EXPR, type, clear, build_one_cst(type)));
  if (several) unsettled = pending.value(fold_build2(BIT_IOR_EXPR, type, unsettled, several));
  for (const memory_range &r : v.ranges) all.safe_push(bounds_of(pending, r, rounds));
  for (const bounds &b : all)
    unsettled = pending.value(fold_build2(BIT_IOR_EXPR, type, unsettled, may_concern(pending, b)));
  check_point asking = pending.if_rarely(unsettled);
  tree answers = build_zero_cst(type), shared = NULL_TREE;
  /* If the number of iterations is not known, the ranges are arbitrary. */
  if (several) shared = asking.value(fold_build2(MULT_EXPR, type, clear, number(COMMSAN_SHARE)));
  for (const bounds &b : all) {
    const unsigned how = b.range->write | (b.range->is_swept ? COMMSAN_NOTE : 0);
    tree asked = number(how);
    if (shared) asked = asking.value(fold_build2(BIT_IOR_EXPR, type, asked, shared));
    tree answer = asking.call(hook_declaration(RANGE_CLEAR), {b.first, b.last, asked});
    clear = asking.value(fold_build2(BIT_AND_EXPR, type, clear, answer));
    answers = asking.value(fold_build2(BIT_IOR_EXPR, type, answers, answer));
  }
  if (!v.sweeps.is_empty()) {
    tree exposed = fold_build2(RSHIFT_EXPR, type, answers, build_one_cst(integer_type_node));
    check_point noting = asking.if_rarely(asking.value(fold_build2(BIT_AND_EXPR, type, exposed, clear)));
    for (const sweep &s : v.sweeps) note(noting, s, rounds);
  }
  return value_or_one(point, pending, value_or_one(pending, asking, clear));
}

static bool version(const versioned_loop &v, hash_set<gimple *> &unchecked) {
  tree condition = build2(NE_EXPR, boolean_type_node, is_clear(v, unchecked),
                          build_zero_cst(long_unsigned_type_node));
  const profile_probability mostly = profile_probability::very_likely();
  const profile_probability rarely = mostly.invert();
  basic_block decision;
  return loop_version(v.loop, condition, &decision, mostly, rarely, mostly, rarely, true);
}

bool has_known_addresses(class loop *l) {
  if (l->inner || !is_worth_two(l)) return false;
  versioned_loop v = {l, NULL_TREE, NULL_TREE, vNULL, vNULL, vNULL};
  hash_set<gimple *> none;
  bool all = count_rounds(v) && find_all_ranges(v, none);
  basic_block *blocks = get_loop_body(l);
  for (unsigned i = 0, known = 0; i < l->num_nodes && all; i++)
    for (gimple_stmt_iterator s = gsi_start_bb(blocks[i]); !gsi_end_p(s) && all; gsi_next(&s)) {
      if (known < v.statements.length() && v.statements[known] == gsi_stmt(s)) known++;
      else all = !count_accesses(gsi_stmt(s));
    }
  free(blocks);
  v.release();
  return all;
}

void free_loops_of_checks(function *f, hash_set<gimple *> &unchecked) {
  if (!optimize || optimize_debug || number_of_loops(f) <= 1) return;
  loop_optimizer_init(LOOPS_NORMAL | LOOPS_HAVE_RECORDED_EXITS);
  scev_initialize();
  auto_vec<versioned_loop> found;
  for (class loop *l : *get_loops(f)) {
    if (!l || !l->num || l->inner || !is_worth_two(l)) continue;
    versioned_loop v = {l, NULL_TREE, NULL_TREE, vNULL, vNULL, vNULL};
    if (count_rounds(v) && find_all_ranges(v, unchecked)) found.safe_push(v);
    else v.release();
  }
  scev_finalize();

  if (!found.is_empty()) initialize_original_copy_tables();
  for (versioned_loop &v : found) {
    if (version(v, unchecked))
      for (gimple *statement : v.statements) unchecked.add(statement);
    v.release();
  }
  if (!found.is_empty()) {
    free_original_copy_tables();
    update_ssa(TODO_update_ssa);
  }
  loop_optimizer_finalize();
}

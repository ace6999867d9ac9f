/* Function and loop versioning: copies without checks, for as long as nothing that is pending
 * concerns them.
 *
 * Where nothing can start an operation, one question at the begin decides for all accesses: if no
 * operation is live and no memory is exposed, none of them can concern one. Such a function, or
 * else each outermost loop of this kind, exists twice: as it is, without checks, and with all of
 * them. This is what frees accesses through an index or a pointer, of which nobody knows the
 * addresses beforehand (loops.cc has those that are known). Of a loop it may be known at least
 * where they lie (reach.cc): then it also runs without checks beside operations on other memory.
 *
 * Nothing starts an operation: computing, functions of libc that are known for it, and calls of
 * this unit's own functions that call nothing else. While there are other threads, which could
 * start one meanwhile, checks stay, unless they are a team that runs nothing but this function. Of
 * threads that code without hooks has created nobody knows: an operation that one of them starts is
 * missed by a function or loop that runs already.
 */
#include "plugin.h"

#include "../hooks/commsan_abi.h"
#include "../hooks/harmless.h"

#include "bversion.h"
#include "calls.h"
#include "cfghooks.h"
#include "cfgloopmanip.h"
#include "tree-into-ssa.h"
#include "tree-scalar-evolution.h"
#include "tree-ssa-loop-manip.h"

/* Limits: twice the code must be worth it. */
static const unsigned most_statements = 3000, most_blocks = 600, fewest_accesses = 2;

/* Functions of the unit that start nothing, whatever they call. */
static hash_set<tree> calm;

static bool is_harmless(tree function) {
  const char *name = IDENTIFIER_POINTER(DECL_ASSEMBLER_NAME(function));
  return commsan_is_harmless(name[0] == '*' ? name + 1 : name);
}

static bool is_calm_call(tree function) {
  if (!function) return false;
  if (cgraph_node *node = cgraph_node::get(function))
    if (node->alias && node->analyzed) function = node->ultimate_alias_target()->decl;
  if (calm.contains(function) || is_harmless(function)) return true;
  if (!fndecl_built_in_p(function)) return flags_from_decl_or_type(function) & (ECF_CONST | ECF_PURE);
  const char *name = IDENTIFIER_POINTER(DECL_NAME(function));
  return !starts_with(name, "__builtin_GOMP") && !starts_with(name, "GOMP_");
}

/* Whether all that a function calls, inlined or not, is calm, given that `calm` are. */
static bool calls_only_calm(cgraph_node *node) {
  if (node->indirect_calls) return false;
  for (cgraph_edge *call = node->callees; call; call = call->next_callee) {
    cgraph_node *callee = call->callee->ultimate_alias_target();
    if (call->inline_failed ? !is_calm_call(call->callee->decl) : !calls_only_calm(callee))
      return false;
  }
  return true;
}

static bool is_thunk(cgraph_node *node) {
#if BUILDING_GCC_MAJOR >= 11
  return node->thunk;
#else
  return node->thunk.thunk_p;
#endif
}

void find_calm(void *, void *) {
  cgraph_node *node;
  FOR_EACH_DEFINED_FUNCTION(node)
  /* Of others it is not known here what they call. */
  if (node->get_availability() > AVAIL_INTERPOSABLE && !node->alias && !is_thunk(node) &&
      !node->in_other_partition)
    calm.add(node->decl);
  /* All are taken to be until one is found not to be: also those that call each other. */
  bool changed = true;
  while (changed) {
    changed = false;
    FOR_EACH_DEFINED_FUNCTION(node)
    if (calm.contains(node->decl) && !calls_only_calm(node)) calm.remove(node->decl), changed = true;
  }
}

/* Whether no operation can start there. What waits for other threads, such as atomic operations,
 * may: there are none that could start one. */
static bool is_calm(gimple *statement) {
  if (gimple_code(statement) == GIMPLE_ASM) return false;
  gcall *call = dyn_cast<gcall *>(statement);
  if (!call || !is_barrier(statement)) return true;
  if (!gimple_call_internal_p(call)) return is_calm_call(gimple_call_fndecl(call));
  return starts_with(internal_fn_name(gimple_call_internal_fn(call)), "ATOMIC_");
}

/* Whether blocks can be copied, and what they contain is worth it. */
struct region {
  bool is_calm = true;
  unsigned statements = 0, accesses = 0;
  location_t where = UNKNOWN_LOCATION;

  /* Exceptions may be caught outside of `loop`, not within: a landing pad cannot be copied. */
  void add(basic_block block, class loop *loop) {
    edge e;
    edge_iterator i;
    FOR_EACH_EDGE(e, i, block->succs) {
      if (e->flags & (EDGE_ABNORMAL_CALL | EDGE_IRREDUCIBLE_LOOP)) is_calm = false;
      if (e->flags & EDGE_ABNORMAL && !(e->flags & EDGE_EH)) is_calm = false;
      if (e->flags & EDGE_EH && (!loop || flow_bb_inside_loop_p(loop, e->dest))) is_calm = false;
    }
    for (gimple_stmt_iterator s = gsi_start_bb(block); !gsi_end_p(s) && is_calm; gsi_next(&s)) {
      gimple *statement = gsi_stmt(s);
      if (is_gimple_debug(statement)) continue;
      statements++;
      /* Nor assembly, which may define symbols. */
      if (!::is_calm(statement)) is_calm = false;
      if (glabel *label = dyn_cast<glabel *>(statement))
        if (FORCED_LABEL(gimple_label_label(label)) || DECL_NONLOCAL(gimple_label_label(label)))
          is_calm = false;
      if (where == UNKNOWN_LOCATION) where = gimple_location(statement);
      accesses += count_accesses(statement);
    }
  }

  bool is_worth_two() const {
    return is_calm && accesses >= fewest_accesses && statements <= most_statements;
  }
};

/* What a question at the begin of a region is about. */
struct concern {
  /* Whether something is pending or exposed. */
  tree live;
  /* Whether other threads may start something: any, or any but those that run this as well. */
  tree others;

  concern(check_point &point, bool is_teams, hash_set<gimple *> &unchecked) {
    point.loads = &unchecked;
    live = point.load(long_unsigned_type_node, header_field(offsetof(commsan_abi, live)));
    others = point.load(long_unsigned_type_node, header_field(offsetof(commsan_abi, parallel)));
    /* The region counts as one. */
    if (is_teams)
      others = fold_build2(RSHIFT_EXPR, long_unsigned_type_node, others,
                           build_one_cst(integer_type_node));
  }

  tree any(check_point &point) const {
    return point.value(fold_build2(BIT_IOR_EXPR, long_unsigned_type_node, live, others));
  }
};

static void leave_unchecked(basic_block block, hash_set<gimple *> &unchecked) {
  for (gimple_stmt_iterator s = gsi_start_bb(block); !gsi_end_p(s); gsi_next(&s))
    unchecked.add(gsi_stmt(s));
}

/* Copies the whole function; returns false if it cannot be copied. `known` is how many accesses
 * loops.cc frees. */
static bool version_function(function *f, unsigned known, hash_set<gimple *> &unchecked) {
  auto_vec<basic_block> blocks;
  basic_block block;
  region all;
  FOR_EACH_BB_FN(block, f) {
    blocks.safe_push(block);
    all.add(block, NULL);
  }
  const unsigned n = blocks.length();
  if (!all.is_worth_two() || all.accesses < known + fewest_accesses || n > most_blocks) return false;
  if (f->calls_setjmp || f->has_nonlocal_label) return false;
  if (!can_copy_bbs_p(blocks.address(), n)) return false;

  check_point point(single_succ_edge(ENTRY_BLOCK_PTR_FOR_FN(f)), f->function_start_locus);
  tree condition = concern(point, is_outlined(f->decl), unchecked).any(point);
  gimple *branch = gimple_build_cond(NE_EXPR, condition, build_zero_cst(TREE_TYPE(condition)),
                                     NULL_TREE, NULL_TREE);
  gsi_insert_before(&point.at, branch, GSI_SAME_STMT);
  basic_block decision = gimple_bb(branch);

  free_dominance_info(CDI_DOMINATORS);
  initialize_original_copy_tables();
  class loop *root = current_loops->tree_root;
  auto_vec<class loop *> loops;
  for (class loop *l = root->inner; l; l = l->next) loops.safe_push(l);
  for (class loop *l : loops) duplicate_subloops(l, duplicate_loop(l, root));
  auto_vec<basic_block> copies;
  for (unsigned i = 0; i < n; i++) copies.safe_push(NULL);
  copy_bbs(blocks.address(), n, copies.address(), NULL, 0, NULL, root, blocks[n - 1],
           false);

  const profile_probability mostly = profile_probability::likely();
  edge calm_way = single_succ_edge(decision);
  calm_way->flags = EDGE_FALSE_VALUE;
  calm_way->probability = mostly;
  edge other_way = make_edge(decision, get_bb_copy(calm_way->dest), EDGE_TRUE_VALUE);
  other_way->probability = mostly.invert();
  for (unsigned i = 0; i < n; i++) {
    copies[i]->count = blocks[i]->count.apply_probability(mostly.invert());
    blocks[i]->count = blocks[i]->count.apply_probability(mostly);
  }
  add_phi_args_after_copy(copies.address(), n, other_way);
  free_original_copy_tables();
  for (basic_block b : blocks) leave_unchecked(b, unchecked);
  return true;
}

/* A loop to be copied, with those inside. */
struct chosen_loop {
  class loop *loop;
  location_t where;
  /* If it is known. */
  bool is_reach_known;
  reach memory;
};

static void leave_unchecked(class loop *l, hash_set<gimple *> &unchecked) {
  basic_block *blocks = get_loop_body(l);
  for (unsigned i = 0; i < l->num_nodes; i++) leave_unchecked(blocks[i], unchecked);
  free(blocks);
}

static bool is_worth_two(class loop *l, location_t *where) {
  if (l->num_nodes > most_blocks || optimize_loop_for_size_p(l)) return false;
  region all;
  basic_block *blocks = get_loop_body(l);
  for (unsigned i = 0; i < l->num_nodes; i++) all.add(blocks[i], l);
  free(blocks);
  *where = all.where;
  return all.is_worth_two() && can_duplicate_loop_p(l);
}

/* Whether the first copy may run: nothing is live, or nothing is in what the loop may access. */
static tree is_free(const chosen_loop &c, hash_set<gimple *> &unchecked) {
  tree type = long_unsigned_type_node;
  check_point point(loop_preheader_edge(c.loop), c.where);
  const concern about(point, false, unchecked);
  tree any = about.any(point);
  if (!c.is_reach_known) return build2(EQ_EXPR, boolean_type_node, any, build_zero_cst(type));
  check_point pending = point.if_rarely(any);
  tree alone = build2(EQ_EXPR, boolean_type_node, about.others, build_zero_cst(type));
  tree clear = is_clear(pending, c.memory, pending.value(fold_convert(type, alone)));
  return build2(NE_EXPR, boolean_type_node, value_or_one(point, pending, clear), build_zero_cst(type));
}

/* Copies the loop; returns false if it cannot be copied. `settled` collects statements of copies
 * that run with checks where something is pending on what they access. */
static bool version_loop(const chosen_loop &c, hash_set<gimple *> &unchecked,
                         hash_set<gimple *> &settled) {
  const profile_probability mostly = profile_probability::likely(), rarely = mostly.invert();
  basic_block decision;
  class loop *copy = loop_version(c.loop, is_free(c, unchecked), &decision, mostly, rarely, mostly,
                                  rarely, true);
  if (!copy) return false;
  leave_unchecked(c.loop, unchecked);
  if (c.is_reach_known) leave_unchecked(copy, settled);
  return true;
}

/* Accesses of innermost loops of which all addresses are known beforehand. */
static unsigned count_known(hash_set<class loop *> &known) {
  unsigned accesses = 0;
  for (class loop *l : *get_loops(cfun)) {
    if (!l || !l->num || !has_known_addresses(l)) continue;
    known.add(l);
    basic_block *blocks = get_loop_body(l);
    for (unsigned i = 0; i < l->num_nodes; i++)
      for (gimple_stmt_iterator s = gsi_start_bb(blocks[i]); !gsi_end_p(s); gsi_next(&s))
        accesses += count_accesses(gsi_stmt(s));
    free(blocks);
  }
  return accesses;
}

/* The outermost loops to be copied among these and those inside them; `known` are handled by
 * loops.cc. */
static void choose_loops(class loop *first, bool must_know, hash_set<class loop *> &known,
                         hash_set<gimple *> &settled, auto_delete_vec<chosen_loop> &chosen) {
  for (class loop *l = first; l; l = l->next) {
    if (known.contains(l)) continue;
    gimple_stmt_iterator last = gsi_last_bb(l->header);
    if (!gsi_end_p(last) && settled.contains(gsi_stmt(last))) continue;
    chosen_loop *c = new chosen_loop{l, UNKNOWN_LOCATION, false, {}};
    bool is_chosen = is_worth_two(l, &c->where);
    if (is_chosen) c->is_reach_known = find_reach(l, c->memory);
    /* It may be known of the loops inside. */
    if (c->memory.is_vague && l->inner) c->is_reach_known = false;
    is_chosen &= c->is_reach_known || !must_know;
    if (is_chosen) {
      chosen.safe_push(c);
      continue;
    }
    delete c;
    choose_loops(l->inner, must_know, known, settled, chosen);
  }
}

/* Copies what can be: the function, or else its outermost loops; `again` only loops of which it is
 * known what they may access, outside of `settled` copies. */
static bool version_some(function *f, bool again, hash_set<gimple *> &unchecked,
                         hash_set<gimple *> &settled) {
  loop_optimizer_init(LOOPS_NORMAL | LOOPS_HAVE_RECORDED_EXITS);
  scev_initialize();
  hash_set<class loop *> known;
  const unsigned accesses = count_known(known);
  auto_delete_vec<chosen_loop> chosen;
  choose_loops(current_loops->tree_root->inner, again, known, settled, chosen);
  scev_finalize();
  release_recorded_exits(f);
  bool any = !again && version_function(f, accesses, unchecked);
  if (!any) {
    initialize_original_copy_tables();
    for (chosen_loop *c : chosen) any |= version_loop(*c, unchecked, settled);
    free_original_copy_tables();
  }
  if (any) update_ssa(TODO_update_ssa);
  loop_optimizer_finalize();
  return any;
}

void free_calm_regions(function *f, hash_set<gimple *> &unchecked) {
  if (!optimize || optimize_debug || optimize_function_for_size_p(f)) return;
  if (shares_memory(f->decl)) return;
  /* Calls that were put in place of others have no virtual operands yet, but copies need them. */
  mark_virtual_operands_for_renaming(f);
  update_ssa(TODO_update_ssa_only_virtuals);
  hash_set<gimple *> settled;
  if (!version_some(f, false, unchecked, settled)) return;
  /* A copy with all checks that runs whenever something is pending may have loops that need
   * none. */
  for (gimple *statement : unchecked) settled.add(statement);
  version_some(f, true, unchecked, settled);
}

/* The pass, and its registration with gcc. */
#include "plugin.h"

#include "plugin-version.h"
#include "context.h"
#include "tree-into-ssa.h"

__attribute__((visibility("default"))) int plugin_is_GPL_compatible;

/* Accesses of a block with the same origin and kind, between two statements that could change the
 * result of a check: one check in front of the first covers all. */
struct group {
  vec<memory_access> members;
};

static bool same_origin(const memory_access &a, const memory_access &b) {
  return a.write == b.write && a.size && b.size && operand_equal_p(a.origin, b.origin, 0);
}

static void add_to_groups(vec<group> &groups, unsigned open, const memory_access &a) {
  for (unsigned i = open; i < groups.length(); i++) {
    vec<memory_access> &members = groups[i].members;
    if (!same_origin(members[0], a)) continue;
    HOST_WIDE_INT begin = a.offset, end = a.end();
    bool known = false;
    for (const memory_access &m : members) {
      begin = MIN(begin, m.offset), end = MAX(end, m.end());
      known |= m.offset <= a.offset && a.end() <= m.end();
    }
    if (known) return;
    if (end - begin > 2048) continue;
    members.safe_push(a);
    return;
  }
  group fresh = {vNULL};
  fresh.members.safe_push(a);
  groups.safe_push(fresh);
}

/* Checks the store of a call's result. */
static void check_result(const memory_access &result) {
  auto_vec<memory_access> alone;
  alone.safe_push(result);
  check_point after(result.statement);
  if (!stmt_ends_bb_p(result.statement)) {
    gsi_next(&after.at);
  } else {
    edge returns = find_fallthru_edge(gimple_bb(result.statement)->succs);
    if (!returns) return;
    after = check_point(returns, gimple_location(result.statement));
  }
  check(after, alone);
}

static void treat_block(basic_block block, hash_set<gimple *> &unchecked) {
  auto_vec<gimple *> statements;
  for (gimple_stmt_iterator i = gsi_start_bb(block); !gsi_end_p(i); gsi_next(&i))
    if (!is_gimple_debug(gsi_stmt(i))) statements.safe_push(gsi_stmt(i));

  auto_vec<group> groups;
  auto_vec<memory_access> results;
  unsigned open = 0;
  for (gimple *statement : statements) {
    if (unchecked.contains(statement)) continue;
    auto_vec<memory_access> before;
    const bool barrier = is_barrier(statement);
    if (barrier || !optimize) open = groups.length();
    if (shares_memory(current_function_decl)) share_copies(statement);
    find_accesses(statement, before, results);
    if (gcall *call = dyn_cast<gcall *>(statement))
      if (!check_lanes(call)) find_known_accesses(call, before);
    for (const memory_access &a : before) add_to_groups(groups, open, a);
    if (barrier) open = groups.length();
  }
  for (group &g : groups) {
    check(check_point(g.members[0].statement), g.members);
    g.members.release();
  }
  for (const memory_access &result : results) check_result(result);
}

static void treat_function(function *f) {
  basic_block block;
  FOR_EACH_BB_FN(block, f)
  for (gimple_stmt_iterator i = gsi_start_bb(block); !gsi_end_p(i); gsi_next(&i))
    if (!is_gimple_debug(gsi_stmt(i))) keep_call(gsi_stmt(i));

  forget_filter_base();
  hash_set<gimple *> unchecked;
  free_calm_regions(f, unchecked);
  free_loops_of_checks(f, unchecked);

  auto_vec<basic_block> blocks;
  FOR_EACH_BB_FN(block, f) blocks.safe_push(block);
  for (basic_block b : blocks) treat_block(b, unchecked);
  tell_synchronisation(f);
  tell_missing_ierror(f);
}

static bool is_excluded(tree declaration) {
  if (lookup_attribute("naked", DECL_ATTRIBUTES(declaration))) return true;
  tree attribute = lookup_attribute("no_sanitize", DECL_ATTRIBUTES(declaration));
  return attribute && tree_to_uhwi(TREE_VALUE(attribute)) & SANITIZE_THREAD;
}

/* Prevents inlining of a function without checks, which would be checked in its callers. */
static void keep_apart(void *declaration, void *) {
  tree function = (tree)declaration;
  if (is_excluded(function) && !lookup_attribute("always_inline", DECL_ATTRIBUTES(function)))
    DECL_UNINLINABLE(function) = 1;
}

static const pass_data description = {
    GIMPLE_PASS, "commsan", OPTGROUP_NONE, TV_NONE, PROP_ssa | PROP_cfg, 0, 0, 0,
    TODO_update_ssa_only_virtuals};

struct commsan_pass : gimple_opt_pass {
  explicit commsan_pass(gcc::context *context) : gimple_opt_pass(description, context) {}

  unsigned execute(function *f) override {
    const bool excluded = is_excluded(f->decl);
    if (!excluded) treat_function(f);
    check_frame(f, excluded);
    free_dominance_info(CDI_DOMINATORS);
    free_dominance_info(CDI_POST_DOMINATORS);
    mark_virtual_operands_for_renaming(f);
    return 0;
  }
};

extern "C" __attribute__((visibility("default"))) int plugin_init(plugin_name_args *,
                                                                  plugin_gcc_version *version) {
  if (!plugin_default_version_check(version, &gcc_version)) return 1;
  register_pass_info info = {new commsan_pass(g), "optimized", 1, PASS_POS_INSERT_AFTER};
  register_callback("commsan", PLUGIN_PASS_MANAGER_SETUP, NULL, &info);
  register_pass_info lines = {make_lines_pass(), "cfg", 1, PASS_POS_INSERT_AFTER};
  register_callback("commsan", PLUGIN_PASS_MANAGER_SETUP, NULL, &lines);
  register_callback("commsan", PLUGIN_PRE_GENERICIZE, mark_exceptional_exit, NULL);
  register_callback("commsan", PLUGIN_PRE_GENERICIZE, keep_apart, NULL);
  register_callback("commsan", PLUGIN_ALL_IPA_PASSES_END, find_sharing, NULL);
  register_callback("commsan", PLUGIN_ALL_IPA_PASSES_END, find_calm, NULL);
  set_up_hooks();
  return 0;
}

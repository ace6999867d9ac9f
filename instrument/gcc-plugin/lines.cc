/* Lines of Fortran's calls. Where a procedure has an interface with `intent(out)`, as MPI's have in
 * Open MPI's modules, gfortran ends the arguments' values before the call and gives that statement
 * the line, not the call: the call counts as one of the line where its program unit begins (seen
 * with gfortran 12; a call with constant arguments has a block of its own, and its line). */
#include "plugin.h"

#include "context.h"
#include "langhooks.h"

static const pass_data description = {
    GIMPLE_PASS, "commsan_lines", OPTGROUP_NONE, TV_NONE, PROP_cfg, 0, 0, 0, 0};

struct lines_pass : gimple_opt_pass {
  explicit lines_pass(gcc::context *context) : gimple_opt_pass(description, context) {}

  bool gate(function *) override { return starts_with(lang_hooks.name, "GNU Fortran"); }

  unsigned execute(function *f) override {
    const location_t unit = LOCATION_LOCUS(DECL_SOURCE_LOCATION(f->decl));
    basic_block block;
    FOR_EACH_BB_FN(block, f) {
      location_t ended = UNKNOWN_LOCATION;
      for (gimple_stmt_iterator i = gsi_start_bb(block); !gsi_end_p(i); gsi_next(&i)) {
        gimple *statement = gsi_stmt(i);
        if (is_gimple_debug(statement)) continue;
        if (gimple_clobber_p(statement)) {
          ended = gimple_location(statement);
          continue;
        }
        const location_t own = LOCATION_LOCUS(gimple_location(statement));
        if (is_gimple_call(statement) && ended != UNKNOWN_LOCATION &&
            (own == UNKNOWN_LOCATION || own == unit))
          gimple_set_location(statement, ended);
        ended = UNKNOWN_LOCATION;
      }
    }
    return 0;
  }
};

opt_pass *make_lines_pass() { return new lines_pass(g); }

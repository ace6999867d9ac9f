/* Determines which memory a statement accesses. */
#include "plugin.h"

#include "builtins.h"
#include "tree-dfa.h"
#include "tree-ssa-address.h"

/* Memory of this function whose address does not escape. Does not use points-to analysis: gfortran
 * declares that arguments with explicit interfaces do not escape, including MPI's. */
static bool is_private(tree declaration) {
  return auto_var_in_fn_p(declaration, current_function_decl) && !TREE_ADDRESSABLE(declaration);
}

static bool is_constant(tree base) {
  return CONSTANT_CLASS_P(base) || TREE_CODE(base) == CONST_DECL ||
         (VAR_P(base) && TREE_READONLY(base) && is_global_var(base));
}

/* Memory that no operation can use, or that has no address to check. */
static bool is_exempt(tree reference, bool write) {
  tree base = get_base_address(reference);
  if (TYPE_ADDR_SPACE(TREE_TYPE(base)) != ADDR_SPACE_GENERIC) return true;
  if (!write && is_constant(base)) return true;
  if (VAR_P(base) && DECL_HARD_REGISTER(base)) return true;
  return DECL_P(base) && is_private(base);
}

tree variable_address(tree base, HOST_WIDE_INT *offset) {
  if (TREE_CODE(base) == MEM_REF) {
    *offset += mem_ref_offset(base).to_constant().to_shwi();
    return TREE_OPERAND(base, 0);
  }
  if (TREE_CODE(base) != TARGET_MEM_REF) return build_fold_addr_expr(base);
  mem_address parts;
  get_address_description(base, &parts);
  if (parts.offset) *offset += int_cst_value(parts.offset);
  tree address = parts.symbol ? parts.symbol : parts.base;
  auto add = [&](tree term) {
    address = address ? fold_build_pointer_plus(address, term) : fold_convert(ptr_type_node, term);
  };
  if (parts.symbol && parts.base) add(fold_convert(sizetype, parts.base));
  if (parts.index) {
    tree index = fold_convert(sizetype, parts.index);
    add(parts.step ? fold_build2(MULT_EXPR, sizetype, index, fold_convert(sizetype, parts.step))
                   : index);
  }
  return address;
}

/* The padding of long double is never accessed. */
static HOST_WIDE_INT touched_bytes(tree type, HOST_WIDE_INT bits) {
  if (TYPE_MODE(type) == XFmode) bits = GET_MODE_PRECISION(XFmode);
  return bits;
}

static bool describe(memory_access &a, tree reference) {
  poly_int64 bit_size, bit_position;
  tree variable_offset;
  machine_mode mode;
  int is_unsigned, reversed, is_volatile = 0;
  tree base = get_inner_reference(reference, &bit_size, &bit_position, &variable_offset, &mode,
                                  &is_unsigned, &reversed, &is_volatile);
  if (is_exempt(reference, a.write)) return false;
  const HOST_WIDE_INT first = bit_position.to_constant(), bits = bit_size.to_constant();
  if (bits == 0) return false;
  a.offset = first >> LOG2_BITS_PER_UNIT;
  if (bits > 0) {
    HOST_WIDE_INT last = first + touched_bytes(TREE_TYPE(reference), bits);
    a.size = ((last + BITS_PER_UNIT - 1) >> LOG2_BITS_PER_UNIT) - a.offset;
  } else {
    a.variable_size = TYPE_SIZE_UNIT(TREE_TYPE(reference));
    if (!a.variable_size || !is_gimple_val(a.variable_size)) return false;
  }
  const bool starts_inside = first % BITS_PER_UNIT || bits % BITS_PER_UNIT;
  a.alignment = starts_inside ? 1 : get_object_alignment(reference) / BITS_PER_UNIT;
  a.origin = variable_address(base, &a.offset);
  if (variable_offset)
    a.origin = fold_build_pointer_plus(a.origin, fold_convert(sizetype, variable_offset));
  a.origin = unshare_expr(a.origin);
  return true;
}

static void add(gimple *statement, tree reference, bool write, vec<memory_access> &found) {
  memory_access a = {};
  a.statement = statement;
  a.write = write;
  if (TREE_CODE(reference) == WITH_SIZE_EXPR) reference = TREE_OPERAND(reference, 0);
  if (!DECL_P(reference) && !REFERENCE_CLASS_P(reference)) return;
  tree base = get_base_address(reference);
  if (base && !is_gimple_reg(base) && describe(a, reference)) found.safe_push(a);
}

/* The callee itself writes such a result in place. */
static bool is_built_by_callee(tree result) { return TREE_ADDRESSABLE(TREE_TYPE(result)); }

static void of_asm(gasm *statement, vec<memory_access> &found) {
  for (unsigned i = 0; i < gimple_asm_ninputs(statement); i++)
    add(statement, TREE_VALUE(gimple_asm_input_op(statement, i)), false, found);
  for (unsigned i = 0; i < gimple_asm_noutputs(statement); i++)
    add(statement, TREE_VALUE(gimple_asm_output_op(statement, i)), true, found);
}

void find_accesses(gimple *statement, vec<memory_access> &before, vec<memory_access> &after) {
  if (gasm *assembly = dyn_cast<gasm *>(statement)) {
    of_asm(assembly, before);
  } else if (gcall *call = dyn_cast<gcall *>(statement)) {
    for (unsigned i = 0; i < gimple_call_num_args(call); i++)
      add(call, gimple_call_arg(call, i), false, before);
    tree result = gimple_call_lhs(call);
    if (result && !is_built_by_callee(result)) add(call, result, true, after);
  } else if (gimple_assign_single_p(statement) && !gimple_clobber_p(statement)) {
    add(statement, gimple_assign_rhs1(statement), false, before);
    add(statement, gimple_assign_lhs(statement), true, before);
  }
}

memory_access access_through(tree pointer, HOST_WIDE_INT size, bool write, gimple *statement) {
  memory_access a = {};
  a.statement = statement;
  a.write = write;
  a.origin = pointer;
  a.size = size;
  a.alignment = get_pointer_alignment(pointer) / BITS_PER_UNIT;
  return a;
}

void look_through_pointer(memory_access &a) {
  gimple *definition = TREE_CODE(a.origin) == SSA_NAME ? SSA_NAME_DEF_STMT(a.origin) : NULL;
  if (!definition || !gimple_assign_single_p(definition)) return;
  tree address = gimple_assign_rhs1(definition);
  if (TREE_CODE(address) != ADDR_EXPR) return;
  tree memory = TREE_OPERAND(address, 0);
  if (TREE_CODE(memory) == MEM_REF || TREE_CODE(memory) == TARGET_MEM_REF)
    a.origin = unshare_expr(variable_address(memory, &a.offset));
}

bool has_public_variables(function *f) {
  unsigned i;
  tree variable;
  if (f->calls_alloca) return true;
  FOR_EACH_LOCAL_DECL(f, i, variable)
    if (VAR_P(variable) && !is_global_var(variable) && TREE_ADDRESSABLE(variable)) return true;
  for (variable = DECL_ARGUMENTS(f->decl); variable; variable = DECL_CHAIN(variable))
    if (TREE_ADDRESSABLE(variable)) return true;
  return false;
}

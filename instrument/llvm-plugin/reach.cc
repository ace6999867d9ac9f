// Which memory a loop may access, known before it is entered: the same as
// instrument/gcc-plugin/reach.cc and interval.cc, which say why it may be relied upon, from LLVM's
// scalar evolution.
#include "reach.h"

#include "../hooks/harmless.h"

#include "llvm/Analysis/MemoryLocation.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Operator.h"
#include "llvm/Transforms/Utils/ScalarEvolutionExpander.h"

using namespace llvm;

namespace commsan {

// Limits: each test costs as much as some checks, and deep expressions more than they save.
static const size_t most_tests = 64;
static const int deepest = 16;
static const unsigned narrowest = 32;
// Ranges of so many bytes are refused.
static const uint64_t longest = 1ull << 33;

static Type *wide_type(ScalarEvolution &evolution) {
  return Type::getInt64Ty(evolution.getContext());
}

// How often a loop returns to its start at most, by one of its exits.
bool Reacher::rounds(const Loop *of, Interval &found, int depth) {
  SmallVector<BasicBlock *> exits;
  of->getExitingBlocks(exits);
  const BasicBlock *latch = of->getLoopLatch();
  for (BasicBlock *exit : exits) {
    if (!latch || !tree.dominates(exit, latch)) continue;
    const SCEV *count = evolution.getExitCount(of, exit);
    if (!isa<SCEVCouldNotCompute>(count) && interval(count, COUNTS, found, depth + 1)) return true;
  }
  return false;
}

bool Reacher::interval(const SCEV *value, Numbers are, Interval &found, int depth) {
  Type *type = value->getType(), *wide = wide_type(evolution);
  if (depth > deepest || !type->isIntegerTy() || type->getIntegerBitWidth() > 64) return false;
  if (auto *constant = dyn_cast<SCEVConstant>(value)) {
    // An unsigned one may be added to subtract.
    const SCEV *number = evolution.getConstant(constant->getAPInt().sextOrTrunc(64));
    found = {number, number};
    return true;
  }
  auto widened = [&](const SCEV *narrow) {
    if (narrow->getType() == wide) return narrow;
    return are == SIGNED ? evolution.getSignExtendExpr(narrow, wide)
                         : evolution.getZeroExtendExpr(narrow, wide);
  };
  if (evolution.isLoopInvariant(value, &loop)) {
    found.low = found.high = widened(value);
    return true;
  }
  auto sum = [&](const Interval &a, const Interval &b) {
    return Interval{evolution.getAddExpr(a.low, b.low), evolution.getAddExpr(a.high, b.high)};
  };
  auto product = [&](const Interval &a, const SCEV *factor) {
    const SCEV *one = evolution.getMulExpr(a.low, factor);
    const SCEV *other = evolution.getMulExpr(a.high, factor);
    if (auto *constant = dyn_cast<SCEVConstant>(factor))
      return constant->getAPInt().isNegative() ? Interval{other, one} : Interval{one, other};
    return Interval{evolution.getSMinExpr(one, other), evolution.getSMaxExpr(one, other)};
  };
  if (auto *cast = dyn_cast<SCEVCastExpr>(value)) {
    const SCEV *operand = cast->getOperand();
    if (!operand->getType()->isIntegerTy()) return false;
    const unsigned from = operand->getType()->getIntegerBitWidth();
    if (type->getIntegerBitWidth() < std::min(from, narrowest)) return false;
    if (are == SIGNED && isa<SCEVZeroExtendExpr>(cast)) are = UNSIGNED;
    return interval(operand, are, found, depth + 1);
  }
  if (type->getIntegerBitWidth() < narrowest) return false;
  if (auto *progression = dyn_cast<SCEVAddRecExpr>(value)) {
    if (!progression->isAffine() || !loop.contains(progression->getLoop())) return false;
    Interval start, step, count;
    if (!interval(progression->getStart(), are, start, depth + 1)) return false;
    if (!interval(progression->getStepRecurrence(evolution), SIGNED, step, depth + 1)) return false;
    if (step.low != step.high || !rounds(progression->getLoop(), count, depth)) return false;
    // Negative is what is computed for a loop that does not return to its start. More than what is
    // refused anyway is not multiplied, as the product might wrap around.
    const SCEV *none = evolution.getZero(wide);
    auto *constant = dyn_cast<SCEVConstant>(step.low);
    const uint64_t each = constant ? constant->getAPInt().abs().getZExtValue() : 1;
    const SCEV *most = evolution.getConstant(wide, longest / std::max<uint64_t>(each, 1) + 2);
    const SCEV *times = evolution.getUMinExpr(evolution.getSMaxExpr(count.high, none), most);
    const SCEV *by = step.low;
    if (!constant) {
      by = evolution.getSMaxExpr(by, evolution.getConstant(wide, uint64_t(-(1ll << 30)), true));
      by = evolution.getSMinExpr(by, evolution.getConstant(wide, 1ull << 30));
    }
    const SCEV *way = evolution.getMulExpr(times, by);
    Interval ways = {evolution.getSMinExpr(way, none), evolution.getSMaxExpr(way, none)};
    if (constant)
      ways = constant->getAPInt().isNegative() ? Interval{way, none} : Interval{none, way};
    found = sum(start, ways);
    return true;
  }
  if (auto *quotient = dyn_cast<SCEVUDivExpr>(value)) {
    Interval of;
    auto *divisor = dyn_cast<SCEVConstant>(quotient->getRHS());
    if (are != COUNTS || !divisor || divisor->isZero()) return false;
    if (!interval(quotient->getLHS(), COUNTS, of, depth + 1)) return false;
    const SCEV *by = evolution.getConstant(divisor->getAPInt().zextOrTrunc(64));
    found = {evolution.getUDivExpr(of.low, by), evolution.getUDivExpr(of.high, by)};
    return true;
  }
  auto *operation = dyn_cast<SCEVNAryExpr>(value);
  if (!operation) return false;
  bool is_first = true;
  for (const SCEV *operand : operation->operands()) {
    Interval next;
    if (!interval(operand, are, next, depth + 1)) return false;
    const Interval before = found;
    const bool multiplies = isa<SCEVMulExpr>(operation);
    if (is_first) found = next;
    else if (isa<SCEVAddExpr>(operation)) found = sum(before, next);
    else if (multiplies && next.low == next.high) found = product(before, next.low);
    else if (multiplies && before.low == before.high) found = product(next, before.low);
    else if (isa<SCEVSMaxExpr, SCEVUMaxExpr>(operation))
      found = {evolution.getSMaxExpr(before.low, next.low),
               evolution.getSMaxExpr(before.high, next.high)};
    else if (isa<SCEVSMinExpr, SCEVUMinExpr>(operation))
      found = {evolution.getSMinExpr(before.low, next.low),
               evolution.getSMinExpr(before.high, next.high)};
    else return false;
    is_first = false;
  }
  return !is_first;
}

// Whether an expression can be computed whatever its operands are.
static bool can_expand(const SCEV *value, ScalarEvolution &evolution, const DataLayout &layout) {
#if LLVM_VERSION_MAJOR < 16
  (void)layout;
  return isSafeToExpand(value, evolution);
#else
  return SCEVExpander(evolution, layout, "reach").isSafeToExpand(value);
#endif
}

bool Reacher::add_span(const Access &access, Reach &found) {
  const SCEV *address = evolution.getSCEV(access.address);
  const SCEV *base = evolution.getPointerBase(address);
  if (!evolution.isLoopInvariant(base, &loop)) return false;
  const SCEV *offset = evolution.getMinusSCEV(address, base);
  const SCEV *start = evolution.getPtrToIntExpr(base, wide_type(evolution));
  Interval around;
  if (isa<SCEVCouldNotCompute>(offset) || isa<SCEVCouldNotCompute>(start)) return false;
  if (!interval(offset, SIGNED, around, 0)) return false;
  const SCEV *more = evolution.getConstant(wide_type(evolution), access.size - 1);
  const SCEV *first = evolution.getAddExpr(start, around.low);
  const SCEV *last = evolution.getAddExpr(evolution.getAddExpr(start, around.high), more);
  const DataLayout &layout = loop.getHeader()->getModule()->getDataLayout();
  if (!can_expand(first, evolution, layout) || !can_expand(last, evolution, layout)) return false;
  for (Span &known : found.spans)
    if (known.first == first && known.last == last && known.write == access.write) return true;
  found.spans.push_back({first, last, access.write});
  return true;
}

// Memory of which the size is known here, and which is no part of something else.
static uint64_t size_of_variable(Value *pointer, const DataLayout &layout) {
  if (auto *variable = dyn_cast<AllocaInst>(pointer)) {
    if (!variable->isStaticAlloca() || variable->isArrayAllocation()) return 0;
    return layout.getTypeAllocSize(variable->getAllocatedType());
  }
  auto *variable = dyn_cast<GlobalVariable>(pointer);
  if (!variable || variable->isDeclaration()) return 0;
  // An array of one element may stand for another object, in old Fortran.
  auto *array = dyn_cast<ArrayType>(variable->getValueType());
  return array && array->getNumElements() == 1 ? 0 : layout.getTypeAllocSize(variable->getValueType());
}

// Whether a pointer is as the program has got it, not computed from others.
static bool is_whole(Value *pointer, SmallPtrSetImpl<Value *> &seen) {
  if (!seen.insert(pointer).second) return true;
  if (seen.size() > deepest) return false;
  if (isa<Argument, LoadInst, CallBase, AllocaInst, GlobalVariable, ConstantPointerNull>(pointer))
    return true;
  if (auto *phi = dyn_cast<PHINode>(pointer))
    return all_of(phi->incoming_values(), [&](Use &use) { return is_whole(use.get(), seen); });
  if (auto *select = dyn_cast<SelectInst>(pointer))
    return is_whole(select->getTrueValue(), seen) && is_whole(select->getFalseValue(), seen);
  return false;
}

// The pointers that an address is computed from, as they are before the loop; false if some are not
// known.
bool Reacher::roots(Value *pointer, SmallVectorImpl<Root> &found, SmallPtrSetImpl<Value *> &active,
                    int depth) {
  if (depth > deepest || found.size() > 8) return false;
  if (auto *offset = dyn_cast<GEPOperator>(pointer))
    return offset->getPointerOperandType()->isPointerTy() &&
           roots(offset->getPointerOperand(), found, active, depth + 1);
  if (auto *cast = dyn_cast<BitCastOperator>(pointer))
    return roots(cast->getOperand(0), found, active, depth + 1);
  if (!pointer->getType()->isPointerTy()) return false;
  SmallPtrSet<Value *, 8> seen;
  if (loop.isLoopInvariant(pointer) && is_whole(pointer, seen)) {
    found.push_back({pointer, {}});
    return true;
  }
  if (auto *phi = dyn_cast<PHINode>(pointer)) {
    if (!active.insert(phi).second) return true;
    const bool known = all_of(phi->incoming_values(), [&](Use &use) {
      return roots(use.get(), found, active, depth + 1);
    });
    active.erase(phi);
    return known;
  }
  if (auto *select = dyn_cast<SelectInst>(pointer))
    return roots(select->getTrueValue(), found, active, depth + 1) &&
           roots(select->getFalseValue(), found, active, depth + 1);
  auto *load = dyn_cast<LoadInst>(pointer);
  Root root;
  if (!load || !loaded(*load, root, depth)) return false;
  found.push_back(root);
  return true;
}

// The same pointer before the loop, if the loop does not change it.
bool Reacher::loaded(LoadInst &load, Root &found, int depth) {
  if (!load.isSimple() || depth > deepest) return false;
  const DataLayout &layout = load.getModule()->getDataLayout();
  int64_t offset = 0;
  Value *base = GetPointerBaseWithConstantOffset(load.getPointerOperand(), offset, layout);
  if (!loop.isLoopInvariant(base)) {
    auto *of = dyn_cast<LoadInst>(base);
    if (!of || !loaded(*of, found, depth + 1)) return false;
  } else {
    found = {base, {}};
  }
  found.offsets.push_back(offset);
  return !is_changed(MemoryLocation::get(&load));
}

// Functions that write none of the program's variables.
static bool writes_nothing(const CallBase &call) {
  if (call.doesNotReturn()) return true;
  const Function *callee = call.getCalledFunction();
  return callee && commsan_writes_nothing(callee->getName().str().c_str());
}

bool Reacher::is_changed(const MemoryLocation &place) {
  for (BasicBlock *block : loop.blocks())
    for (Instruction &instruction : *block) {
      if (!instruction.mayWriteToMemory()) continue;
      auto *call = dyn_cast<CallBase>(&instruction);
      if (call && writes_nothing(*call)) continue;
      if (isModSet(aliases.getModRefInfo(&instruction, place))) return true;
    }
  return false;
}

bool Reacher::add_roots(Value *address, bool write, Reach &found) {
  if (auto *offsets = dyn_cast<GEPOperator>(address))
    if (offsets->getType()->isVectorTy() && offsets->getPointerOperandType()->isPointerTy())
      address = offsets->getPointerOperand();
  SmallVector<Root, 4> all;
  SmallPtrSet<Value *, 8> active;
  if (!roots(address, all, active, 0) || all.empty()) return false;
  for (const Root &root : all) {
    const std::pair<Root, bool> object(root, write);
    if (!is_contained(found.objects, object)) found.objects.push_back(object);
  }
  return true;
}

bool Reacher::find(ArrayRef<Access> accesses, Reach &found) {
  for (const Access &access : accesses) {
    const bool is_one = access.address->getType()->isPointerTy();
    if (!(is_one && access.size && add_span(access, found)) &&
        !add_roots(access.address, access.write, found))
      return false;
    if (found.spans.size() + found.objects.size() > most_tests) return false;
  }
  return true;
}

static Value *ask(IRBuilder<> &builder, const char *name, Type *result,
                  ArrayRef<Value *> arguments) {
  SmallVector<Type *> types;
  for (Value *argument : arguments) types.push_back(argument->getType());
  Module &module = *builder.GetInsertBlock()->getModule();
  FunctionCallee hook =
      module.getOrInsertFunction(name, FunctionType::get(result, types, false));
  if (auto *function = dyn_cast<Function>(hook.getCallee())) {
    function->setVisibility(GlobalValue::HiddenVisibility);
    function->setDoesNotThrow();
  }
  return builder.CreateCall(hook, arguments);
}

Value *is_clear(IRBuilder<> &builder, const Reach &reach, Value *clear,
                ScalarEvolution &evolution) {
  const DataLayout &layout = builder.GetInsertBlock()->getModule()->getDataLayout();
  SCEVExpander expander(evolution, layout, "reach");
  Type *word = builder.getInt64Ty();
  auto number = [&](Value *value) { return builder.CreatePtrToInt(value, word); };
  auto add_span = [&](Value *first, Value *last, bool write) {
    Value *is_write = builder.getInt64(write);
    clear = ask(builder, "__commsan_span_clear", word, {first, last, is_write, clear});
  };
  for (const Span &span : reach.spans) {
    Instruction *at = &*builder.GetInsertPoint();
    Value *first = expander.expandCodeFor(span.first, word, at);
    add_span(first, expander.expandCodeFor(span.last, word, at), span.write);
  }
  for (const auto &[root, write] : reach.objects) {
    Value *pointer = root.pointer;
    const uint64_t size = root.offsets.empty() ? size_of_variable(pointer, layout) : 0;
    if (size) {
      Value *first = number(pointer);
      add_span(first, builder.CreateAdd(first, builder.getInt64(size - 1)), write);
      continue;
    }
    Value *address = number(pointer);
    ArrayRef<int64_t> offsets = root.offsets;
    const uint64_t whole = offsets.empty() ? 0 : size_of_variable(pointer, layout);
    if (whole >= 8 && offsets[0] >= 0 && uint64_t(offsets[0]) <= whole - 8) {
      // Of a variable it can be loaded at any time.
      Value *at = builder.CreateAdd(address, builder.getInt64(offsets[0]));
      address = builder.CreateLoad(word, builder.CreateIntToPtr(at, PointerType::get(word, 0)));
      offsets = offsets.drop_front();
    }
    for (int64_t offset : offsets)
      address = ask(builder, "__commsan_pointee", word, {address, builder.getInt64(offset)});
    clear = ask(builder, "__commsan_object_clear", word, {address, builder.getInt64(write), clear});
  }
  return clear;
}

} // namespace commsan

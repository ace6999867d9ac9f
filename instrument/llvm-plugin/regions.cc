// Copies functions and loops behind a question: is anything pending or exposed? What is copied, and
// which of the copies has checks, is decided in crates/llvm-pass/src/calm.rs.
#include "../hooks/commsan_abi.h"
#include "../hooks/harmless.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/SSAUpdater.h"
#include "llvm/Transforms/Utils/ValueMapper.h"

#define EXPORTED __attribute__((visibility("default")))

using namespace llvm;

namespace {

using Decision = LLVMBool (*)(LLVMBasicBlockRef *blocks, size_t count, void *data);

// Blocks that can exist twice.
bool can_copy(ArrayRef<BasicBlock *> blocks) {
  for (BasicBlock *block : blocks) {
    if (block->hasAddressTaken()) return false;
    const Instruction *end = block->getTerminator();
    if (!isa<BranchInst, SwitchInst, ReturnInst, UnreachableInst, InvokeInst, ResumeInst>(end))
      return false;
    for (const Instruction &instruction : *block)
      if (instruction.getType()->isTokenTy()) return false;
  }
  return true;
}

// Copies blocks. Copies refer to each other, and to what is outside as the blocks do.
void copy(ArrayRef<BasicBlock *> blocks, ValueToValueMapTy &map) {
  SmallVector<BasicBlock *> copies;
  for (BasicBlock *block : blocks) {
    BasicBlock *copy = CloneBasicBlock(block, map, ".checked", block->getParent());
    map[block] = copy;
    copies.push_back(copy);
  }
  remapInstructionsInBlocks(copies, map);
}

// Ends a block: on to `calm` if nothing is pending or exposed, and there are no other threads that
// could start something; else to `checked`. With `is_teams`, threads of the team that runs the
// function are no others.
void ask(BasicBlock *decision, BasicBlock *calm, BasicBlock *checked, bool is_teams) {
  IRBuilder<> builder(decision);
  IntegerType *word = builder.getInt64Ty();
  auto field = [&](size_t offset) -> Value * {
    Constant *address = builder.getInt64(COMMSAN_BASE - 4096 + offset);
    return builder.CreateLoad(word, ConstantExpr::getIntToPtr(address, PointerType::get(word, 0)));
  };
  Value *live = field(offsetof(commsan_abi, live));
  Value *parallel = field(offsetof(commsan_abi, parallel));
  // The region counts as one.
  if (is_teams) parallel = builder.CreateLShr(parallel, 1);
  Value *concern = builder.CreateOr(live, parallel);
  MDNode *weights = MDBuilder(decision->getContext()).createBranchWeights(7, 1);
  builder.CreateCondBr(builder.CreateICmpEQ(concern, builder.getInt64(0)), calm, checked, weights);
}

void copy_function(Function &function, ArrayRef<BasicBlock *> blocks, bool is_teams) {
  BasicBlock *entry = &function.getEntryBlock();
  SmallVector<AllocaInst *> variables;
  for (Instruction &instruction : *entry)
    if (auto *variable = dyn_cast<AllocaInst>(&instruction))
      if (variable->isStaticAlloca()) variables.push_back(variable);
  ValueToValueMapTy map;
  // Both copies use the variables.
  BasicBlock *decision = BasicBlock::Create(function.getContext(), "", &function, entry);
  for (AllocaInst *variable : variables) {
    variable->removeFromParent();
#if LLVM_VERSION_MAJOR < 16
    decision->getInstList().push_back(variable);
#else
    variable->insertInto(decision, decision->end());
#endif
  }
  copy(blocks, map);
  ask(decision, entry, cast<BasicBlock>(map[entry]), is_teams);
}

void copy_loop(Loop &loop, ArrayRef<BasicBlock *> blocks) {
  BasicBlock *header = loop.getHeader();
  SmallVector<BasicBlock *> outside;
  for (BasicBlock *from : predecessors(header))
    if (!loop.contains(from)) outside.push_back(from);
  BasicBlock *before = SplitBlockPredecessors(header, outside, ".calm");
  SmallVector<BasicBlock *> exits;
  loop.getUniqueExitBlocks(exits);

  ValueToValueMapTy map;
  copy(blocks, map);
  before->getTerminator()->eraseFromParent();
  ask(before, header, cast<BasicBlock>(map[header]), false);

  // Exits are reached from both.
  for (BasicBlock *exit : exits) {
    for (PHINode &phi : exit->phis()) {
      for (unsigned i = 0, n = phi.getNumIncomingValues(); i < n; i++) {
        BasicBlock *from = phi.getIncomingBlock(i);
        if (!loop.contains(from)) continue;
        Value *value = phi.getIncomingValue(i);
        auto copied = map.find(value);
        phi.addIncoming(copied == map.end() ? value : static_cast<Value *>(copied->second),
                        cast<BasicBlock>(map[from]));
      }
    }
  }
  // So are other uses of what the loop computes.
  for (BasicBlock *block : blocks) {
    for (Instruction &instruction : *block) {
      SmallVector<Use *> uses;
      for (Use &use : instruction.uses()) {
        auto *user = cast<Instruction>(use.getUser());
        auto *phi = dyn_cast<PHINode>(user);
        BasicBlock *at = phi ? phi->getIncomingBlock(use) : user->getParent();
        if (!loop.contains(at)) uses.push_back(&use);
      }
      if (uses.empty()) continue;
      SSAUpdater updater;
      updater.Initialize(instruction.getType(), instruction.getName());
      updater.AddAvailableValue(block, &instruction);
      updater.AddAvailableValue(cast<BasicBlock>(map[block]), map[&instruction]);
      for (Use *use : uses) updater.RewriteUse(*use);
    }
  }
}

// Copies loops for which the decision is positive, outermost first.
void copy_loops(Loop &loop, Decision decide, void *data) {
  SmallVector<BasicBlock *> blocks(loop.blocks());
  SmallVector<LLVMBasicBlockRef> wrapped;
  for (BasicBlock *block : blocks) wrapped.push_back(wrap(block));
  if (can_copy(blocks) && !loop.getHeader()->isEHPad() && decide(wrapped.data(), wrapped.size(), data)) {
    copy_loop(loop, blocks);
    return;
  }
  for (Loop *inner : loop) copy_loops(*inner, decide, data);
}

} // namespace

extern "C" {

// Asks `decide` about the function as a whole, else about its loops, outermost first, and copies
// what it wants. The blocks that it was asked about are entered while nothing is pending. `is_teams`: whether
// all threads of an OpenMP team run the function.
EXPORTED void commsan_copy_regions(LLVMValueRef wrapped, Decision decide, void *data,
                                   LLVMBool is_teams) {
  Function &function = *unwrap<Function>(wrapped);
  SmallVector<BasicBlock *> blocks;
  SmallVector<LLVMBasicBlockRef> all;
  for (BasicBlock &block : function) blocks.push_back(&block), all.push_back(wrap(&block));
  if (can_copy(blocks) && decide(all.data(), all.size(), data))
    return copy_function(function, blocks, is_teams);
  DominatorTree tree(function);
  LoopInfo loops(tree);
  SmallVector<Loop *> outermost(loops.begin(), loops.end());
  for (Loop *loop : outermost) copy_loops(*loop, decide, data);
}

EXPORTED LLVMBool commsan_is_harmless_call(const char *name) { return commsan_is_harmless(name); }

// Whether a definition may be replaced by another one when the program is linked or loaded.
EXPORTED LLVMBool commsan_is_interposable(LLVMValueRef function) {
  return unwrap<Function>(function)->isInterposable();
}
}

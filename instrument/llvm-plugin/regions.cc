// Copies functions and loops behind a question: is anything pending or exposed? What is copied, and
// which of the copies has checks, is decided in crates/llvm-pass/src/calm.rs.
#include "reach.h"

#include "../hooks/commsan_abi.h"
#include "../hooks/harmless.h"

#include "llvm/Analysis/AssumptionCache.h"
#include "llvm/Analysis/BasicAliasAnalysis.h"
#include "llvm/Analysis/DomTreeUpdater.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScopedNoAliasAA.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/Analysis/TypeBasedAliasAnalysis.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/SSAUpdater.h"
#include "llvm/Transforms/Utils/ValueMapper.h"

#define EXPORTED __attribute__((visibility("default")))

using namespace llvm;

namespace {

// An access as the pass describes it.
struct Described {
  LLVMValueRef address;
  uint64_t size;
  LLVMBool write;
};

// What the pass decides; `data` is its own.
struct Decisions {
  // Whether blocks shall exist twice.
  LLVMBool (*want)(LLVMBasicBlockRef *blocks, size_t count, LLVMBool is_whole, void *data);
  // Their accesses, valid until the next call.
  size_t (*accesses)(LLVMBasicBlockRef *blocks, size_t count, const Described **found, void *data);
  // These are entered while nothing is pending that concerns them.
  void (*free)(LLVMBasicBlockRef *blocks, size_t count, void *data);
  // These are entered while something is pending in what they may access.
  void (*settle)(LLVMBasicBlockRef *blocks, size_t count, void *data);
  void *data;
};

struct Wrapped {
  SmallVector<LLVMBasicBlockRef> all;
  explicit Wrapped(ArrayRef<BasicBlock *> blocks) {
    for (BasicBlock *block : blocks) all.push_back(wrap(block));
  }
};

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
SmallVector<BasicBlock *> copy(ArrayRef<BasicBlock *> blocks, ValueToValueMapTy &map) {
  SmallVector<BasicBlock *> copies;
  for (BasicBlock *block : blocks) {
    BasicBlock *copy = CloneBasicBlock(block, map, ".checked", block->getParent());
    map[block] = copy;
    copies.push_back(copy);
  }
  remapInstructionsInBlocks(copies, map);
  return copies;
}

// What a question is about: whether anything is pending or exposed, and whether there are other
// threads that could start something. With `is_teams`, threads of the team that runs the function
// are no others.
struct Concern {
  Value *live, *others;
  Concern(IRBuilder<> &builder, bool is_teams) {
    IntegerType *word = builder.getInt64Ty();
    auto field = [&](size_t offset) -> Value * {
      Constant *address = builder.getInt64(COMMSAN_BASE - 4096 + offset);
      return builder.CreateLoad(word, ConstantExpr::getIntToPtr(address, PointerType::get(word, 0)));
    };
    live = field(offsetof(commsan_abi, live));
    others = field(offsetof(commsan_abi, parallel));
    // The region counts as one.
    if (is_teams) others = builder.CreateLShr(others, 1);
  }
  Value *any(IRBuilder<> &builder) const { return builder.CreateOr(live, others); }
};

// Ends a block: on to `calm` on the condition, else to `checked`.
void decide(BasicBlock *decision, Value *condition, BasicBlock *calm, BasicBlock *checked) {
  IRBuilder<> builder(decision);
  MDNode *weights = MDBuilder(decision->getContext()).createBranchWeights(7, 1);
  builder.CreateCondBr(condition, calm, checked, weights);
}

// Returns the block that decides.
BasicBlock *copy_function(Function &function, ArrayRef<BasicBlock *> blocks, bool is_teams) {
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
  IRBuilder<> builder(decision);
  Value *any = Concern(builder, is_teams).any(builder);
  Value *is_calm = builder.CreateICmpEQ(any, builder.getInt64(0));
  decide(decision, is_calm, entry, cast<BasicBlock>(map[entry]));
  return decision;
}

// A loop that shall exist twice.
struct Chosen {
  Loop *loop;
  SmallVector<BasicBlock *> blocks;
  // What it may access, if that is known.
  bool is_known;
  commsan::Reach reach;
  // Where it is decided, and on what.
  BasicBlock *decision;
  Value *condition;
  // All that the question consists of.
  SmallVector<BasicBlock *> question;
};

// What is known of a function.
struct Analyses {
  DominatorTree tree;
  LoopInfo loops;
  AssumptionCache assumptions;
  TargetLibraryInfoImpl libraries;
  TargetLibraryInfo library;
  ScalarEvolution evolution;
  BasicAAResult basic;
  TypeBasedAAResult by_type;
  ScopedNoAliasAAResult scoped;
  AAResults aliases;

  explicit Analyses(Function &function)
      : tree(function), loops(tree), assumptions(function),
        libraries(Triple(function.getParent()->getTargetTriple())), library(libraries, &function),
        evolution(function, library, assumptions, tree, loops),
        basic(function.getParent()->getDataLayout(), function, library, assumptions, &tree),
#if LLVM_VERSION_MAJOR >= 20
        by_type(false),
#endif
        aliases(library) {
    aliases.addAAResult(basic);
    aliases.addAAResult(by_type);
    aliases.addAAResult(scoped);
  }
};

// Inserts the question before a loop.
void ask(Chosen &chosen, Analyses &of) {
  Loop &loop = *chosen.loop;
  BasicBlock *header = loop.getHeader();
  SmallVector<BasicBlock *> outside;
  for (BasicBlock *from : predecessors(header))
    if (!loop.contains(from)) outside.push_back(from);
  BasicBlock *before = SplitBlockPredecessors(header, outside, ".calm", &of.tree, &of.loops);
  IRBuilder<> builder(before->getTerminator());
  const Concern concern(builder, false);
  Value *any = builder.CreateICmpNE(concern.any(builder), builder.getInt64(0));
  chosen.decision = before;
  chosen.question.push_back(before);
  chosen.condition = builder.CreateNot(any);
  if (!chosen.is_known) return;
  MDNode *weights = MDBuilder(before->getContext()).createBranchWeights(1, 1 << 10);
  DomTreeUpdater updater(of.tree, DomTreeUpdater::UpdateStrategy::Eager);
#if LLVM_VERSION_MAJOR < 19
  Instruction *at = before->getTerminator();
#else
  auto at = before->getTerminator()->getIterator();
#endif
  Instruction *inside =
      SplitBlockAndInsertIfThen(any, at, false, weights, &updater, &of.loops);
  IRBuilder<> asking(inside);
  Value *alone = asking.CreateICmpEQ(concern.others, asking.getInt64(0));
  Value *so_far = asking.CreateZExt(alone, asking.getInt64Ty());
  Value *clear = commsan::is_clear(asking, chosen.reach, so_far, of.evolution);
  BasicBlock *after = inside->getSuccessor(0);
  IRBuilder<> joining(&after->front());
  PHINode *answer = joining.CreatePHI(joining.getInt64Ty(), 2);
  answer->addIncoming(joining.getInt64(1), before);
  answer->addIncoming(clear, inside->getParent());
  chosen.decision = after;
  chosen.question.append({inside->getParent(), after});
  chosen.condition = joining.CreateICmpNE(answer, joining.getInt64(0));
}

// Copies a loop; returns the copies.
SmallVector<BasicBlock *> copy_loop(Chosen &chosen) {
  Loop &loop = *chosen.loop;
  ArrayRef<BasicBlock *> blocks = chosen.blocks;
  BasicBlock *header = loop.getHeader();
  SmallVector<BasicBlock *> exits;
  loop.getUniqueExitBlocks(exits);

  ValueToValueMapTy map;
  SmallVector<BasicBlock *> copies = copy(blocks, map);
  chosen.decision->getTerminator()->eraseFromParent();
  decide(chosen.decision, chosen.condition, header, cast<BasicBlock>(map[header]));

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
  return copies;
}

// The outermost loops that shall exist twice, among one and those inside; with `must_know` only if
// it is known what they may access.
void choose(Loop &loop, bool must_know, const Decisions &decisions, Analyses &of,
            SmallVectorImpl<Chosen> &all) {
  Chosen chosen = {&loop, SmallVector<BasicBlock *>(loop.blocks()), false, {}, nullptr, nullptr, {}};
  Wrapped wrapped(chosen.blocks);
  LLVMBasicBlockRef *blocks = wrapped.all.data();
  const size_t count = wrapped.all.size();
  if (can_copy(chosen.blocks) && !loop.getHeader()->isEHPad() &&
      decisions.want(blocks, count, false, decisions.data)) {
    const Described *described;
    const size_t number = decisions.accesses(blocks, count, &described, decisions.data);
    SmallVector<commsan::Access> accesses;
    for (const Described &access : ArrayRef<Described>(described, number))
      accesses.push_back({unwrap(access.address), access.size, access.write != 0});
    commsan::Reacher reacher(loop, of.evolution, of.tree, of.aliases);
    chosen.is_known = reacher.find(accesses, chosen.reach);
    if (chosen.is_known || !must_know) {
      all.push_back(std::move(chosen));
      return;
    }
  }
  for (Loop *inner : loop) choose(*inner, must_know, decisions, of, all);
}

} // namespace

extern "C" {

// Asks about the function as a whole, else about its loops, outermost first, and copies what is
// wanted; `again` only loops, if it is known what they may access. `is_teams`: whether all threads
// of an OpenMP team run the function. Returns whether there are copies that it may be worth to ask
// about again.
EXPORTED LLVMBool commsan_copy_regions(LLVMValueRef wrapped, const Decisions *decisions,
                                       LLVMBool is_teams, LLVMBool again) {
  Function &function = *unwrap<Function>(wrapped);
  SmallVector<BasicBlock *> blocks;
  for (BasicBlock &block : function) blocks.push_back(&block);
  Wrapped all(blocks);
  if (!again && can_copy(blocks) &&
      decisions->want(all.all.data(), all.all.size(), true, decisions->data)) {
    all.all.push_back(wrap(copy_function(function, blocks, is_teams)));
    decisions->free(all.all.data(), all.all.size(), decisions->data);
    return true;
  }
  Analyses of(function);
  SmallVector<Chosen, 0> chosen;
  for (Loop *loop : of.loops) choose(*loop, again, *decisions, of, chosen);
  // All questions first, as the analyses do not know of copies.
  for (Chosen &one : chosen) ask(one, of);
  bool any_unknown = false;
  for (Chosen &one : chosen) {
    Wrapped copies(copy_loop(one));
    one.blocks.append(one.question);
    Wrapped own(one.blocks);
    decisions->free(own.all.data(), own.all.size(), decisions->data);
    if (one.is_known) decisions->settle(copies.all.data(), copies.all.size(), decisions->data);
    any_unknown |= !one.is_known;
  }
  return any_unknown;
}

EXPORTED LLVMBool commsan_is_harmless_call(const char *name) { return commsan_is_harmless(name); }

// Whether a definition may be replaced by another one when the program is linked or loaded.
EXPORTED LLVMBool commsan_is_interposable(LLVMValueRef function) {
  return unwrap<Function>(function)->isInterposable();
}
}

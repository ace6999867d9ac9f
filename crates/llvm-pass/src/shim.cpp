// C interface to parts of LLVM that exist only in C++, and the addresses that hooks and runtime
// agree on, from their header.
#include "commsan_abi.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/EscapeEnumerator.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

using namespace llvm;

namespace {

using Callback = void (*)(LLVMModuleRef);

struct Run : PassInfoMixin<Run> {
  Callback callback;
  explicit Run(Callback callback) : callback(callback) {}
  PreservedAnalyses run(Module &module, ModuleAnalysisManager &) {
    callback(wrap(&module));
    return PreservedAnalyses::none();
  }
  static bool isRequired() { return true; }
};

} // namespace

extern "C" {

extern const uint64_t commsan_filter = COMMSAN_BASE;
extern const uint64_t commsan_stack_live = COMMSAN_BASE - 4096 + offsetof(commsan_abi, stack_live);
extern const uint64_t commsan_parallel = COMMSAN_BASE - 4096 + offsetof(commsan_abi, parallel);
extern const uint64_t commsan_acquire = COMMSAN_ACQUIRE;
extern const uint64_t commsan_release = COMMSAN_RELEASE;
extern const uint64_t commsan_broadcast = COMMSAN_BROADCAST;
extern const uint64_t commsan_atomic = COMMSAN_ATOMIC;
extern const uint64_t commsan_note = COMMSAN_NOTE;
extern const uint64_t commsan_share = COMMSAN_SHARE;
extern const uint64_t commsan_page_shift = COMMSAN_PAGE_SHIFT;
extern const uint64_t commsan_slot_mask = COMMSAN_SLOT_MASK;
extern const uint8_t commsan_check_read = COMMSAN_CHECK_READ;
extern const uint8_t commsan_check_write = COMMSAN_CHECK_WRITE;

void commsan_register(PassBuilder &builder, Callback first, Callback last) {
  builder.registerPipelineStartEPCallback(
      [=](ModulePassManager &passes, OptimizationLevel) { passes.addPass(Run(first)); });
  builder.registerOptimizerLastEPCallback(
      [=](ModulePassManager &passes, OptimizationLevel) { passes.addPass(Run(last)); });
}

// Puts bytes into a section of the object file, even if nothing refers to them.
void commsan_keep_bytes(LLVMModuleRef in, const char *section, const char *bytes, size_t length) {
  Module &module = *unwrap(in);
  auto *data = ConstantDataArray::getRaw(StringRef(bytes, length), length,
                                         Type::getInt8Ty(module.getContext()));
  auto *variable = new GlobalVariable(module, data->getType(), true, GlobalValue::PrivateLinkage,
                                      data, "commsan.kept");
  variable->setSection(section);
  variable->setAlignment(Align(4));
  appendToCompilerUsed(module, {variable});
}

// Splits the block before an instruction; returns the end of a new, unlikely block that is entered
// if the condition holds.
LLVMValueRef commsan_branch_unlikely(LLVMValueRef condition, LLVMValueRef before) {
  auto *instruction = unwrap<Instruction>(before);
  auto *weights = MDBuilder(instruction->getContext()).createUnlikelyBranchWeights();
  return wrap(
      SplitBlockAndInsertIfThen(unwrap(condition), instruction->getIterator(), false, weights));
}

// In the phis of a block, replaces one incoming block by another.
void commsan_replace_phi_block(LLVMBasicBlockRef in, LLVMBasicBlockRef from, LLVMBasicBlockRef to) {
  unwrap(in)->replacePhiUsesWith(unwrap(from), unwrap(to));
}

// Calls back for the last instruction of each exit of a function, including by exceptions.
void commsan_each_exit(LLVMValueRef function, void (*callback)(LLVMValueRef, void *), void *data) {
  EscapeEnumerator exits(*unwrap<Function>(function));
  SmallVector<Instruction *> last;
  while (IRBuilder<> *exit = exits.Next())
    last.push_back(&*exit->GetInsertPoint());
  for (Instruction *instruction : last)
    callback(wrap(instruction), data);
}
}

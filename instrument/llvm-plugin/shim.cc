// The pass plugin's part for one version of LLVM: C interface to what exists only in C++ or differs
// between versions, and the addresses that hooks and runtime agree on, from their header. All else
// is in libcommsan_pass.so (crates/llvm-pass), which this library loads and which uses LLVM's own C
// interface, the same in all versions.
#include "../hooks/commsan_abi.h"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Operator.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Passes/PassPlugin.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/EscapeEnumerator.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

#define EXPORTED __attribute__((visibility("default")))

using namespace llvm;

extern "C" {
// Before and after the optimizer.
void commsan_mark(LLVMModuleRef);
void commsan_instrument(LLVMModuleRef);
}

// Marks calls of MPI's Fortran procedures without the argument for the error code.
void commsan_tell_missing_ierror(llvm::Module &module);

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

void instrument(LLVMModuleRef module) {
  commsan_tell_missing_ierror(*unwrap(module));
  commsan_instrument(module);
}

void add_passes(PassBuilder &builder) {
  // Later versions pass the phase of link-time optimization, too.
  builder.registerPipelineStartEPCallback(
      [](ModulePassManager &passes, auto &&...) { passes.addPass(Run(commsan_mark)); });
  builder.registerOptimizerLastEPCallback(
      [](ModulePassManager &passes, auto &&...) { passes.addPass(Run(instrument)); });
}

} // namespace

extern "C" {

EXPORTED PassPluginLibraryInfo llvmGetPassPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "commsan", "1", add_passes};
}

EXPORTED extern const uint64_t commsan_filter = COMMSAN_BASE;
EXPORTED extern const uint64_t commsan_stack_live =
    COMMSAN_BASE - 4096 + offsetof(commsan_abi, stack_live);
EXPORTED extern const uint64_t commsan_parallel =
    COMMSAN_BASE - 4096 + offsetof(commsan_abi, parallel);
EXPORTED extern const uint64_t commsan_acquire = COMMSAN_ACQUIRE;
EXPORTED extern const uint64_t commsan_release = COMMSAN_RELEASE;
EXPORTED extern const uint64_t commsan_broadcast = COMMSAN_BROADCAST;
EXPORTED extern const uint64_t commsan_atomic = COMMSAN_ATOMIC;
EXPORTED extern const uint64_t commsan_section = COMMSAN_SECTION;
EXPORTED extern const uint64_t commsan_no_section = COMMSAN_NO_SECTION;
EXPORTED extern const uint64_t commsan_note = COMMSAN_NOTE;
EXPORTED extern const uint64_t commsan_share = COMMSAN_SHARE;
EXPORTED extern const uint64_t commsan_page_shift = COMMSAN_PAGE_SHIFT;
EXPORTED extern const uint64_t commsan_slot_mask = COMMSAN_SLOT_MASK;
EXPORTED extern const uint8_t commsan_check_read = COMMSAN_CHECK_READ;
EXPORTED extern const uint8_t commsan_check_write = COMMSAN_CHECK_WRITE;

// Plain pointers: `ptr`, or `i8 *` where pointers have the type of what they point to (LLVM 14).
EXPORTED LLVMTypeRef commsan_pointer_type(LLVMContextRef context) {
#if LLVM_VERSION_MAJOR < 17
  return wrap(Type::getInt8PtrTy(*unwrap(context)));
#else
  return wrap(PointerType::get(*unwrap(context), 0));
#endif
}

// Whether a bitwise or is a sum, since its operands have no bit in common.
EXPORTED LLVMBool commsan_is_disjoint(LLVMValueRef value) {
#if LLVM_VERSION_MAJOR < 18
  auto *either = dyn_cast<Instruction>(unwrap(value));
  return either && either->getOpcode() == Instruction::Or &&
         haveNoCommonBitsSet(either->getOperand(0), either->getOperand(1),
                             either->getModule()->getDataLayout());
#else
  auto *either = dyn_cast<PossiblyDisjointInst>(unwrap(value));
  return either && either->isDisjoint();
#endif
}

// Puts bytes into a section of the object file, even if nothing refers to them.
EXPORTED void commsan_keep_bytes(LLVMModuleRef in, const char *section, const char *bytes,
                                 size_t length) {
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
EXPORTED LLVMValueRef commsan_branch_unlikely(LLVMValueRef condition, LLVMValueRef before) {
  auto *instruction = unwrap<Instruction>(before);
  auto *weights = MDBuilder(instruction->getContext()).createBranchWeights(1, (1 << 20) - 1);
#if LLVM_VERSION_MAJOR < 19
  auto *at = instruction;
#else
  auto at = instruction->getIterator();
#endif
  return wrap(SplitBlockAndInsertIfThen(unwrap(condition), at, false, weights));
}

// In the phis of a block, replaces one incoming block by another.
EXPORTED void commsan_replace_phi_block(LLVMBasicBlockRef in, LLVMBasicBlockRef from,
                                        LLVMBasicBlockRef to) {
  unwrap(in)->replacePhiUsesWith(unwrap(from), unwrap(to));
}

// Calls back for the last instruction of each exit of a function, including by exceptions.
EXPORTED void commsan_each_exit(LLVMValueRef function, void (*callback)(LLVMValueRef, void *),
                                void *data) {
  EscapeEnumerator exits(*unwrap<Function>(function));
  SmallVector<Instruction *> last;
  while (IRBuilder<> *exit = exits.Next())
    last.push_back(&*exit->GetInsertPoint());
  for (Instruction *instruction : last)
    callback(wrap(instruction), data);
}
}

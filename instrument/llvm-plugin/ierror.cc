// Calls of MPI's Fortran procedures without the argument for the error code: `mpif.h` has no
// interfaces by which the compiler could object. They are reported and get a variable, for the
// library stores the code wherever the register or the stack happens to point.
#include "../hooks/fortran_calls.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace {

constexpr const char *hook = "__commsan_missing_ierror";
constexpr const char *error_code = "__commsan_ierror";

Function *called(const CallInst &call) {
  return dyn_cast<Function>(call.getCalledOperand()->stripPointerCasts());
}

bool lacks_ierror(const CallInst &call) {
  Function *function = called(call);
  return function && function->isDeclaration() &&
         commsan_lacks_ierror(function->getName().str().c_str(), call.arg_size());
}

// The same call with one argument more.
void complete(CallInst *call, Value *argument) {
  SmallVector<Value *> arguments(call->args());
  arguments.push_back(argument);
  SmallVector<Type *> types;
  for (Value *each : arguments)
    types.push_back(each->getType());
  FunctionType *type = FunctionType::get(call->getType(), types, false);
  IRBuilder<> builder(call);
  Value *function = called(*call);
#if LLVM_VERSION_MAJOR < 17
  function = builder.CreateBitCast(function, PointerType::get(type, 0));
#endif
  CallInst *complete = builder.CreateCall(type, function, arguments);
  complete->setCallingConv(call->getCallingConv());
  complete->setAttributes(call->getAttributes());
  call->replaceAllUsesWith(complete);
  call->eraseFromParent();
}

} // namespace

void commsan_tell_missing_ierror(Module &module) {
  // With -ffat-lto-objects the pass runs twice.
  if (module.getFunction(hook)) return;
  SmallVector<CallInst *> calls;
  for (Function &function : module)
    for (BasicBlock &block : function)
      for (Instruction &instruction : block)
        if (auto *call = dyn_cast<CallInst>(&instruction))
          if (lacks_ierror(*call)) calls.push_back(call);
  for (CallInst *call : calls) {
    IRBuilder<> builder(call);
    auto *name = builder.CreateGlobalStringPtr(called(*call)->getName());
    auto hooked = module.getOrInsertFunction(hook, builder.getVoidTy(), name->getType());
    builder.CreateCall(hooked, {name});
    auto *variable = module.getOrInsertGlobal(error_code, builder.getInt32Ty());
    cast<GlobalValue>(variable)->setVisibility(GlobalValue::HiddenVisibility);
    complete(call, variable);
  }
}

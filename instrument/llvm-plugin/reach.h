// Which memory a loop may access, known before it is entered.
#ifndef COMMSAN_REACH_H
#define COMMSAN_REACH_H

#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"

namespace commsan {

// Bytes that an instruction reads or writes: at most `size` from the address on. With a vector of
// addresses, `size` is that of each element.
struct Access {
  llvm::Value *address;
  uint64_t size;
  bool write;
};

// From the first byte to the last, as numbers of 64 bits.
struct Span {
  const llvm::SCEV *first, *last;
  bool write;
};

// A pointer as the program has got it, or one that is stored at an offset from that, and so on.
struct Root {
  llvm::Value *pointer;
  std::vector<int64_t> offsets;
  bool operator==(const Root &other) const {
    return pointer == other.pointer && offsets == other.offsets;
  }
};

struct Reach {
  std::vector<Span> spans;
  std::vector<std::pair<Root, bool>> objects;
};

class Reacher {
public:
  Reacher(llvm::Loop &loop, llvm::ScalarEvolution &evolution, llvm::DominatorTree &tree,
          llvm::AAResults &aliases)
      : loop(loop), evolution(evolution), tree(tree), aliases(aliases) {}

  // False if some of it is not known before the loop is entered.
  bool find(llvm::ArrayRef<Access> accesses, Reach &found);

private:
  llvm::Loop &loop;
  llvm::ScalarEvolution &evolution;
  llvm::DominatorTree &tree;
  llvm::AAResults &aliases;

  struct Interval {
    const llvm::SCEV *low, *high;
  };
  // Counts are numbers of rounds, which are not negative.
  enum Numbers { SIGNED, UNSIGNED, COUNTS };
  bool interval(const llvm::SCEV *value, Numbers are, Interval &found, int depth);
  bool rounds(const llvm::Loop *of, Interval &found, int depth);
  bool add_span(const Access &access, Reach &found);
  bool add_roots(llvm::Value *address, bool write, Reach &found);
  bool roots(llvm::Value *pointer, llvm::SmallVectorImpl<Root> &found,
             llvm::SmallPtrSetImpl<llvm::Value *> &active, int depth);
  bool loaded(llvm::LoadInst &load, Root &found, int depth);
  bool is_changed(const llvm::MemoryLocation &place);
};

// Inserts a question about all of it: `clear` if nothing there is pending or exposed, otherwise 0.
llvm::Value *is_clear(llvm::IRBuilder<> &builder, const Reach &reach, llvm::Value *clear,
                      llvm::ScalarEvolution &evolution);

} // namespace commsan

#endif

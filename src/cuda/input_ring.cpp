#include "cuda/input_ring.hpp"

#include "warpfold/core/error.hpp"

namespace warpfold::cuda {

InputRing::InputRing(int blocks, std::uint64_t slot_bytes) {
  for (int slot = 0; slot <= blocks; ++slot) slots_.push_back(std::make_unique<Slot>(slot_bytes));
}

std::byte* InputRing::acquire(int block) {
  Slot& slot = assign(block);
  slot.copied.wait();
  return slot.memory.data();
}

const std::byte* InputRing::held(int block) {
  const std::lock_guard lock(mutex_);
  return slot_of(block).memory.data();
}

void InputRing::release(int block, cudaStream_t stream) {
  const std::lock_guard lock(mutex_);
  Slot& slot = slot_of(block);
  slot.copied.record(stream);
  slot.holder = nobody;
}

InputRing::Slot& InputRing::slot_of(int block) {
  for (const auto& slot : slots_)
    if (slot->holder == block) return *slot;
  throw Error("a block was loaded before its input was asked for", "", "");
}

InputRing::Slot& InputRing::assign(int block) {
  const std::lock_guard lock(mutex_);
  for (const auto& slot : slots_)
    if (slot->holder == block) return *slot;
  while (slots_[next_]->holder != nobody) next_ = (next_ + 1) % slots_.size();
  Slot& slot = *slots_[next_];
  slot.holder = block;
  next_ = (next_ + 1) % slots_.size();
  return slot;
}

}  // namespace warpfold::cuda

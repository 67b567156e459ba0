#pragma once

#include <vector_types.h>

#include <cstdint>

#include "emulator/grid.hpp"

// In the place of src/cuda/primitives/relaxed.cuh: what others write comes when they run, between
// two words, too.
namespace warpfold::cuda {

inline std::uint64_t load_relaxed(const std::uint64_t* word) {
  emulator::wait_for_others(word, sizeof(*word));
  return *word;
}

inline void store_relaxed(std::uint64_t* word, std::uint64_t value) {
  emulator::perhaps_let_blocks_run();
  *word = value;
}

inline ulonglong2 load_relaxed(const ulonglong2* words) {
  emulator::wait_for_others(words, sizeof(*words));
  ulonglong2 value;
  value.y = words->y;
  emulator::perhaps_let_blocks_run();
  value.x = words->x;
  return value;
}

inline void store_relaxed(ulonglong2* words, const ulonglong2& value) {
  emulator::perhaps_let_blocks_run();
  words->x = value.x;
  emulator::perhaps_let_blocks_run();
  words->y = value.y;
}

template <class T>
void store_to_host(T* words, const T& value) {
  emulator::perhaps_let_blocks_run();
  *words = value;
}

inline void store_release(std::uint32_t* counter, std::uint32_t value) {
  emulator::perhaps_let_lanes_run();
  *counter = value;
}

inline std::uint32_t load_acquire(const std::uint32_t* counter) {
  emulator::wait_for_others(counter, sizeof(*counter));
  return *counter;
}

template <class T>
T load_whole(const T* words) {
  emulator::wait_for_others(words, sizeof(*words));
  return *words;
}

template <class T>
void store_whole(T* words, const T& value) {
  emulator::perhaps_let_blocks_run();
  *words = value;
}

}  // namespace warpfold::cuda

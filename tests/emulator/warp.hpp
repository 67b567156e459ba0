#pragma once

#include <semaphore.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <utility>
#include <vector>

#include "emulator/fibres.hpp"
#include "emulator/grid.hpp"

/// Lanes and warps of the emulated GPU.
namespace warpfold::emulator {

class Block;

/// Memory that a lane waits for, as it was when the lane last read it.
struct Word {
  const void* memory = nullptr;
  std::size_t bytes = 0;
  std::array<std::byte, 16> seen{};

  void look() { std::memcpy(seen.data(), memory, bytes); }
  bool is_as_seen() const { return std::memcmp(seen.data(), memory, bytes) == 0; }
};

enum class LaneState : std::uint8_t { ready, meeting, ended };

struct Lane {
  Place place;
  Block* block = nullptr;
  unsigned warp = 0;
  LaneState state = LaneState::ready;
  bool waited = false;  ///< for memory, when it last ran
  Fibre* fibre = nullptr;
  Word looked_at{};
  unsigned vain_looks = 0;  ///< one after another at the same
};

/// Lanes of a warp that come together again and again.
struct MeetingPoint {
  struct alignas(16) Vector {
    std::byte bytes[16];
  };

  Meeting meeting = Meeting::synchronize;
  unsigned arrived = 0;
  std::uint64_t times = 0;
  unsigned lanes = 0;  ///< that met the last time
  std::size_t bytes = 0;
  void (*finish)(const Met&) = nullptr;
  /// In turns: lanes that are slow still read what was brought the last time.
  std::array<std::vector<Vector>, 2> values;

  void* values_of(std::uint64_t time) { return values[time % 2].data(); }

  void begin(Meeting of, const Brought& brought) {
    meeting = of;
    bytes = brought.bytes;
    finish = brought.finish;
    std::vector<Vector>& room = values[times % 2];
    const std::size_t needed = bytes * warp_lanes / sizeof(Vector) + 1;
    if (room.size() < needed) room.resize(needed);
  }

  void arrive(unsigned lane, const void* value) {
    if (bytes != 0)
      std::memcpy(static_cast<std::byte*>(values_of(times)) + bytes * lane, value, bytes);
    arrived |= 1u << lane;
  }

  void end() {
    lanes = std::exchange(arrived, 0);
    if (finish != nullptr) finish({values_of(times), lanes});
    ++times;
  }
};

struct Warp {
  unsigned ready = 0;  ///< lanes
  unsigned ended = 0;
  bool waits = false;         ///< for memory, since a lane last looked in vain
  bool runs_on = false;       ///< a lane does something other than to look in vain again
  std::vector<Word> awaited;  ///< memory that lanes look at in vain again
  std::map<unsigned, MeetingPoint> points;  ///< meeting points by mask
};

/// Whether a warp's lanes would look in vain.
inline bool is_asleep(const Warp& warp) {
  return warp.waits && !warp.runs_on && std::ranges::all_of(warp.awaited, &Word::is_as_seen);
}

inline bool is_idle(const Warp& warp) { return warp.ready == 0 || is_asleep(warp); }

struct Barrier {
  std::size_t arrived = 0;
  std::uint64_t times = 0;
};

/// The right of a block to run, and the warps that it then runs.
struct Turn {
  Turn() { sem_init(&given, 0, 0); }
  ~Turn() { sem_destroy(&given); }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

  void give() { sem_post(&given); }
  void take() {
    while (sem_wait(&given) != 0) continue;
  }

  sem_t given;  ///< one of std would yield the core to other programs before it waits
  const std::vector<Warp>* warps = nullptr;

  bool is_vain() const { return warps != nullptr && std::ranges::all_of(*warps, is_idle); }
};

}  // namespace warpfold::emulator

#include "io/hdf5/hdf5_handle.hpp"

#include <atomic>

namespace warpfold::io {
namespace {

std::atomic<bool> something_is_left_open = false;

}  // namespace

void note_left_open() noexcept { something_is_left_open = true; }

bool left_something_open() noexcept { return something_is_left_open; }

}  // namespace warpfold::io

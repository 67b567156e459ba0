#pragma once

#include <cstdint>

#include "core/layout/selection.hpp"

namespace warpfold::io {

/// What becomes of a dimension of the dataset that outputs are computed from.
struct CarriedDimension {
  enum class Fate : std::uint8_t {
    kept,
    reduced,         ///< outputs lack it
    reduced_to_one,  ///< outputs have it with extent 1
    merged,          ///< outputs have one dimension for all that are merged
  };

  Slice selected;  ///< of the stored dimension
  Fate fate = Fate::kept;

  bool is_left() const {
    return fate == Fate::reduced_to_one || (fate == Fate::kept && !selected.dropped);
  }
};

}  // namespace warpfold::io

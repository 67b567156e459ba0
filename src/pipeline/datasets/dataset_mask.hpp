#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/values/decoding.hpp"
#include "core/values/mask.hpp"
#include "io/dataset/dataset.hpp"
#include "pipeline/run/run.hpp"
#include "warpfold/view_options.hpp"

namespace warpfold::pipeline {

/// The most memory of a rank that a mask may take: 2^31 elements.
inline constexpr std::uint64_t max_mask_bytes = std::uint64_t{256} << 20;

/// File and name of a mask.
struct MaskName {
  std::string file;
  std::string dataset;
};

/// Understands ViewOptions::mask, or another option that names a dataset likewise, of a view of a
/// dataset of `file`. Throws a usage Error.
MaskName parse_mask_name(const std::string& option, const std::string& text,
                         const std::string& file);

/// Returns what of a mask, or of the dataset that another option names, belongs to what is selected
/// of a dataset: it has the dataset's last dimensions. Throws a usage Error where it doesn't.
Selection selection_beside(const std::string& option, const io::DatasetInfo& mask,
                           const io::DatasetInfo& masked);

/// Compares what a mask, or the dataset that another option names, and a dataset say of the last
/// dimensions, which they share, and of the dimension of a line, if one is given. Throws an Error
/// where they differ; returns what can't be compared, a sentence for a note, or nothing. For one
/// rank.
std::string match_beside(const std::string& option, const io::DatasetInfo& mask,
                         const io::DatasetInfo& masked, Matching matching,
                         std::optional<std::size_t> line_along = std::nullopt);

/// Opens the mask of that name, of which it selects what belongs to what is selected of a dataset,
/// on one rank. Throws as io::Dataset does; a usage Error where its shape is another than that of
/// the dataset's last dimensions, an Error where that part is too large.
io::Dataset open_mask(const std::string& name, const io::DatasetInfo& masked, Matching matching);

/// A dataset whose elements tell which of another's count, as every rank has it in memory.
class DatasetMask {
 public:
  /// Reads what is selected of `dataset`, which is not empty, ranks a share each. Collective;
  /// throws the same Error on every rank.
  DatasetMask(io::Dataset dataset, const Decoding& decoding, Run& run);

  Mask bits() const { return {words_.data(), dataset_.info().elements}; }

 private:
  io::Dataset dataset_;
  std::vector<std::uint64_t> words_;
};

}  // namespace warpfold::pipeline

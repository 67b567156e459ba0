#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "io/dataset/dataset.hpp"
#include "mpi/communicator.hpp"
#include "pipeline/datasets/dataset_mask.hpp"
#include "pipeline/meaning/interpretation.hpp"
#include "pipeline/run/collective.hpp"
#include "pipeline/run/run.hpp"
#include "warpfold/core/element_type.hpp"
#include "warpfold/core/error.hpp"
#include "warpfold/dataset_choice.hpp"
#include "warpfold/view_options.hpp"

namespace warpfold::pipeline {

/// A view is a dataset as ViewOptions want it: its shape is the selected one, its elements are
/// still to be decoded. What is more than the decoding counts on the root alone.
struct DatasetView : Interpretation {
  io::Dataset dataset;
  std::shared_ptr<const DatasetMask> mask = nullptr;  ///< whose bits the decoding has, if any
  std::set<std::string> auxiliary_files = {};         ///< files of datasets that are read with it
  std::vector<std::function<void()>> require_unchanged_auxiliary = {};
  Matching match = Matching::coordinates;
  KeptIndices kept_times = {};  ///< indices whose times satisfy all conditions on them

  const io::DatasetInfo& info() const { return dataset.info(); }
  ElementType value_type() const { return decoding.value_type(info().format.type); }

  /// Registers another dataset that this rank reads, a mask or labels, and its notes with the run.
  void add_auxiliary(const io::Dataset& other, Run& run);

  /// Throws an Error where a file that the view reads, or that is read beside it, was written to or
  /// replaced.
  void require_unchanged() const;
};

/// Interprets a dataset as the options want it: the decoding on every rank. Collective; throws the
/// same Error on every rank.
void interpret_everywhere(Interpretation& view, const io::DatasetInfo& info,
                          const ViewOptions& options, const mpi::Communicator& communicator);

/// Opens a dataset as the options select it, on one rank. Throws as open_view().
io::Dataset open_selected(const std::string& file, const std::string& dataset,
                          const ViewOptions& options, ReadPath path);

/// Opens a dataset on every rank, the root first, to be read as the run's options say, and chooses
/// the run's backend for it. Collective; throws the same Error on every rank.
DatasetView open_view(const std::string& file, const std::string& dataset,
                      const ViewOptions& options, Run& run);

/// Does body(), which reads the view's elements and throws the same Error on every rank. Throws one
/// in its place where a file that it reads changed meanwhile. Collective.
template <class Body>
void while_unchanged(const DatasetView& view, const mpi::Communicator& communicator, Body&& body) {
  const auto require_unchanged = [&] {
    run_on_all(communicator, [&] { view.require_unchanged(); });
  };
  try {
    body();
  } catch (const Error&) {
    require_unchanged();
    throw;
  }
  require_unchanged();
}

/// Says in a command's result what was read.
inline void describe_view(const DatasetView& view, DatasetResult& result) {
  result.format = view.info().format;
  result.value_type = view.value_type();
  result.applied = view.applied;
  result.shape = view.info().shape;
}

/// Returns NaN for floats, netCDF's default fill value for integers.
Value value_for_nothing(ElementType type);

/// Returns the value that stands for no elements of a view: the one that `asked` names, or for
/// "auto" the dataset's `_FillValue` if values are as stored, NaN for floats, netCDF's default fill
/// value for integers. Collective; throws the same Error on every rank, a usage Error for what the
/// view's type can't hold.
Value empty_value(const DatasetView& view, const std::string& asked,
                  const mpi::Communicator& communicator);

/// Names the attributes that describe a view's single elements, or how they are packed: false of
/// what is computed from several. The unit of packed values is one.
std::vector<std::string> element_attributes(const DatasetView& view);

/// Names those of them that are false of single elements as they are decoded: none unless unpacked.
std::vector<std::string> packing_attributes(const DatasetView& view);

}  // namespace warpfold::pipeline

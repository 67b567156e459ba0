#include "core/layout/partition.hpp"
#include "io/dataset/dataset_info.hpp"
#include "io/dataset/dataset_open.hpp"
#include "io/hdf5/hdf5_file.hpp"
#include "io/hdf5/hdf5_library.hpp"
#include "io/output/output.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::io {
namespace {

std::vector<hsize_t> chunk_shape_of(hid_t dataset, std::size_t dimensions,
                                    const std::string& problem) {
  const PropertiesHandle creation(require(H5Dget_create_plist(dataset), problem));
  std::vector<hsize_t> extents(dimensions);
  require(H5Pget_chunk(creation.get(), static_cast<int>(dimensions), extents.data()), problem);
  return extents;
}

}  // namespace

class ChunkWriter::Implementation {
 public:
  Implementation(const std::string& path, const std::string& dataset, const std::string& output)
      : problem_("cannot write '" + dataset + "' in '" + (output.empty() ? path : output) + "'"),
        file_(open_own(path)),
        dataset_(open_dataset(file_.get(), path, dataset, problem_)),
        shape_(shape_of(dataset_.get(), problem_)),
        chunk_shape_(chunk_shape_of(dataset_.get(), shape_.size(), problem_)) {}

  void write(std::uint64_t number, const EncodedChunk& chunk) {
    const std::vector<hsize_t> origin = origin_of(number);
    require(H5Dwrite_chunk(dataset_.get(), H5P_DEFAULT, chunk.skipped_filters, origin.data(),
                           chunk.bytes.size(), chunk.bytes.data()),
            problem_);
  }

  void close() {
    const bool closed = dataset_.close() && file_.close();
    if (!closed) throw_library_error(problem_);
  }

 private:
  /// Returns the coordinates of a chunk's first element.
  std::vector<hsize_t> origin_of(std::uint64_t number) const {
    std::vector<hsize_t> origin(shape_.size());
    for (std::size_t d = shape_.size(); d-- > 1;) {
      const std::uint64_t chunks = ceil_div(shape_[d], std::uint64_t{chunk_shape_[d]});
      origin[d] = number % chunks * chunk_shape_[d];
      number /= chunks;
    }
    origin[0] = number * chunk_shape_[0];
    return origin;
  }

  std::string problem_;
  FileHandle file_;
  DatasetHandle dataset_;
  std::vector<std::uint64_t> shape_;
  std::vector<hsize_t> chunk_shape_;
};

ChunkWriter::ChunkWriter(const std::string& path, const std::string& dataset,
                         const std::string& output) {
  const LibraryScope scope;
  implementation_ = std::make_unique<Implementation>(path, dataset, output);
}

ChunkWriter::~ChunkWriter() {
  if (!implementation_) return;
  const LibraryScope scope;
  implementation_.reset();
}

ChunkWriter::ChunkWriter(ChunkWriter&& other) noexcept = default;

void ChunkWriter::write(std::uint64_t number, const EncodedChunk& chunk) {
  const LibraryScope scope;
  implementation_->write(number, chunk);
}

void ChunkWriter::close() {
  const LibraryScope scope;
  implementation_->close();
}

}  // namespace warpfold::io

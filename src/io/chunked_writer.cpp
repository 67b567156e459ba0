#include <utility>

#include "io/chunk_cache.hpp"
#include "io/dataset_info.hpp"
#include "io/dataset_open.hpp"
#include "io/hdf5_error.hpp"
#include "io/hdf5_file.hpp"
#include "io/hdf5_scope.hpp"
#include "io/hdf5_type.hpp"
#include "io/output.hpp"
#include "io/transfer.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::io {

class ChunkedWriter::Implementation {
 public:
  Implementation(const std::string& path, const std::string& dataset)
      : problem_("cannot write '" + dataset + "' in '" + path + "'"),
        file_(open_for_writing(path)),
        dataset_(open_dataset(file_.get(), path, dataset, problem_)),
        type_(require(H5Dget_type(dataset_.get()), problem_)) {
    const StoredType type = describe_type(type_.get());
    if (!type.exact || !type.format) throw Error(problem_, unsupported_reason(type), "");
    const DatasetInfo info = describe_dataset(dataset_.get(), type, path, dataset);
    elements_ = info.elements;
    shape_ = info.shape;
    element_bytes_ = size_of(type.format->type);
    if (info.layout == Layout::chunked) reopen_with_cache(dataset, info.chunk_shape);
  }

  void write(std::uint64_t first, std::span<const std::byte> bytes) {
    const std::uint64_t count = bytes.size() / element_bytes_;
    if (bytes.size() % element_bytes_ != 0 || first > elements_ || count > elements_ - first) {
      throw Error(problem_,
                  std::to_string(bytes.size()) + " bytes from element " + std::to_string(first) +
                      " on do not fit its " + std::to_string(elements_) + " elements",
                  "");
    }
    write_elements({dataset_.get(), type_.get(), element_bytes_, shape_}, {first, count}, bytes,
                   problem_);
  }

  void close() {
    const bool closed = dataset_.close() && file_.close();
    if (!closed) throw_library_error(problem_);
  }

 private:
  void reopen_with_cache(const std::string& name, const std::vector<std::uint64_t>& chunk_shape) {
    const PropertiesHandle access =
        access_with(chunk_cache_for(shape_, chunk_shape, element_bytes_));
    dataset_.close();
    dataset_ = DatasetHandle(require(H5Dopen2(file_.get(), name.c_str(), access.get()), problem_));
  }

  std::string problem_;
  FileHandle file_;
  DatasetHandle dataset_;
  TypeHandle type_;
  std::vector<std::uint64_t> shape_;
  std::uint64_t elements_ = 0;
  std::size_t element_bytes_ = 1;
};

ChunkedWriter::ChunkedWriter(const std::string& path, const std::string& dataset) {
  const LibraryScope scope;
  implementation_ = std::make_unique<Implementation>(path, dataset);
}

ChunkedWriter::~ChunkedWriter() {
  if (!implementation_) return;
  const LibraryScope scope;
  implementation_.reset();
}

ChunkedWriter::ChunkedWriter(ChunkedWriter&& other) noexcept = default;

void ChunkedWriter::write(std::uint64_t first, std::span<const std::byte> bytes) {
  const LibraryScope scope;
  implementation_->write(first, bytes);
}

void ChunkedWriter::close() {
  const LibraryScope scope;
  implementation_->close();
}

}  // namespace warpfold::io

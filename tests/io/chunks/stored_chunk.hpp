#pragma once

#include <hdf5.h>

#include <cstring>
#include <random>

#include "io/chunks/chunk_decoder.hpp"
#include "io/hdf5/hdf5_fixture.hpp"

namespace warpfold::io {

using Bytes = std::vector<std::byte>;

/// Unsigned integers of 1, 2, 4 or 8 bytes.
inline hid_t unsigned_type(std::size_t element_bytes) {
  switch (element_bytes) {
    case 1:
      return H5T_STD_U8LE;
    case 2:
      return H5T_STD_U16LE;
    case 4:
      return H5T_STD_U32LE;
    default:
      return H5T_STD_U64LE;
  }
}

/// Bytes of which a compressor can take out some, but not all.
inline Bytes mixed_bytes(std::size_t count, unsigned seed = 1) {
  std::mt19937 random(seed);
  Bytes bytes(count);
  for (std::size_t i = 0; i < count; ++i) {
    bytes[i] = static_cast<std::byte>(i / 300 % 2 == 0 ? random() : i / 16);
  }
  return bytes;
}

/// With the parameters that HDF5 chose for the type of the elements.
inline std::vector<Filter> filters_of_dataset(hid_t dataset) {
  const PropertiesHandle creation(H5Dget_create_plist(dataset));
  std::vector<Filter> filters;
  for (unsigned i = 0; i < static_cast<unsigned>(H5Pget_nfilters(creation.get())); ++i) {
    Filter filter;
    filter.parameters.resize(32);
    std::size_t count = filter.parameters.size();
    unsigned flags = 0;
    filter.id = H5Pget_filter2(creation.get(), i, &flags, &count, filter.parameters.data(), 0,
                               nullptr, nullptr);
    filter.name = std::to_string(filter.id);
    filter.parameters.resize(count);
    filters.push_back(filter);
  }
  return filters;
}

/// A chunk as the HDF5 library stores it.
struct Stored {
  std::vector<Filter> filters;
  std::size_t element_bytes = 1;
  std::uint32_t skipped_filters = 0;
  Bytes bytes;

  /// Decodes the chunk by ChunkDecoder, with the bytes of each element together again.
  Bytes decoded(std::size_t chunk_bytes) const {
    ChunkDecoder decoder(filters, element_bytes, chunk_bytes);
    return decoded(decoder, chunk_bytes);
  }

  Bytes decoded(ChunkDecoder& decoder, std::size_t chunk_bytes) const {
    Bytes out(chunk_bytes);
    if (!decoder.decode(bytes, skipped_filters, out, "cannot read it")) return out;
    Bytes elements(chunk_bytes);
    const std::size_t count = chunk_bytes / element_bytes;
    for (std::size_t i = 0; i < chunk_bytes; ++i) {
      elements[i % count * element_bytes + i / count] = out[i];
    }
    return elements;
  }
};

/// Fetches what lies in the file of a dataset's first chunk.
inline Stored stored_chunk(hid_t dataset, std::size_t element_bytes) {
  Stored stored{filters_of_dataset(dataset), element_bytes, 0, {}};
  const hsize_t origin = 0;
  hsize_t stored_bytes = 0;
  EXPECT_GE(H5Dget_chunk_storage_size(dataset, &origin, &stored_bytes), 0);
  stored.bytes.resize(stored_bytes);
  EXPECT_GE(
      H5Dread_chunk(dataset, H5P_DEFAULT, &origin, &stored.skipped_filters, stored.bytes.data()),
      0);
  return stored;
}

/// Stores `bytes` as the one chunk of a dataset whose filters `add_filters` adds to its creation
/// properties, and fetches what lies in the file.
template <class AddFilters>
Stored store_chunk(hid_t file, const Bytes& bytes, std::size_t element_bytes,
                   AddFilters add_filters) {
  const PropertiesHandle creation = dataset_creation();
  const hsize_t elements = bytes.size() / element_bytes;
  EXPECT_GE(H5Pset_chunk(creation.get(), 1, &elements), 0);
  add_filters(creation.get());
  const hid_t type = unsigned_type(element_bytes);
  if (H5Lexists(file, "x", H5P_DEFAULT) > 0) H5Ldelete(file, "x", H5P_DEFAULT);
  const DatasetHandle dataset = create_dataset(file, "x", type, {elements}, creation.get());
  EXPECT_GE(H5Dwrite(dataset.get(), type, H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes.data()), 0);
  EXPECT_GE(H5Fflush(file, H5F_SCOPE_LOCAL), 0);

  return stored_chunk(dataset.get(), element_bytes);
}

}  // namespace warpfold::io

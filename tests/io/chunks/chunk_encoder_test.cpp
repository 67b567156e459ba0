#include "io/chunks/chunk_encoder.hpp"

#include "io/chunks/stored_chunk.hpp"
#include "io/output/chunk_writing.hpp"
#include "io/output/output.hpp"

namespace warpfold::io {
namespace {

constexpr std::size_t elements_of_a_chunk = 700;
constexpr std::size_t chunks = 3;  // the last is cut at 2/7

class ChunkEncoderTest : public Hdf5Test {
 protected:
  static constexpr std::size_t elements = 2 * elements_of_a_chunk + 200;

  static OutputSpec spec_for(const std::string& path, const StorageOptions& storage,
                             ElementType type) {
    OutputSpec spec;
    spec.path = path;
    spec.dataset = "values";
    spec.shape = {elements};
    spec.format = {type, ByteOrder::little};
    spec.storage = storage;
    spec.storage.chunk_shape = {elements_of_a_chunk};
    spec.force = true;
    return spec;
  }

  /// Encodes whole chunks of `bytes`, writes them and reads them by the HDF5 library.
  Bytes through_library(const Bytes& bytes, const StorageOptions& storage, ElementType type) {
    const std::size_t element_bytes = size_of(type);
    StagedFile staged(spec_for(path("out.h5"), storage, type));
    ChunkEncoder encoder(storage, element_bytes);
    const std::size_t chunk_bytes = elements_of_a_chunk * element_bytes;
    for (const std::size_t number : {1U, 2U, 0U}) {
      write_chunk(staged, number,
                  encoder.encode(std::span(bytes).subspan(number * chunk_bytes, chunk_bytes)));
    }
    staged.commit();
    const FileHandle file(H5Fopen(path("out.h5").c_str(), H5F_ACC_RDONLY, H5P_DEFAULT));
    const DatasetHandle dataset(H5Dopen2(file.get(), "values", H5P_DEFAULT));
    Bytes read(elements * element_bytes);
    EXPECT_GE(H5Dread(dataset.get(), unsigned_type(element_bytes), H5S_ALL, H5S_ALL, H5P_DEFAULT,
                      read.data()),
              0);
    return read;
  }

  static Bytes within_dataset(Bytes bytes, std::size_t element_bytes) {
    bytes.resize(elements * element_bytes);
    return bytes;
  }
};

StorageOptions stored(std::optional<int> level, bool shuffle, bool fletcher32) {
  StorageOptions storage;
  storage.deflate_level = level;
  storage.shuffle = shuffle;
  storage.fletcher32 = fletcher32;
  return storage;
}

TEST_F(ChunkEncoderTest, TheLibraryReadsEveryCombination) {
  for (const ElementType type :
       {ElementType::u8, ElementType::u16, ElementType::u32, ElementType::u64}) {
    const Bytes bytes = mixed_bytes(chunks * elements_of_a_chunk * size_of(type));
    for (const bool shuffle : {false, true}) {
      for (const bool fletcher32 : {false, true}) {
        for (const auto level : {std::optional<int>(), {0}, {1}, {6}, {9}}) {
          EXPECT_EQ(through_library(bytes, stored(level, shuffle, fletcher32), type),
                    within_dataset(bytes, size_of(type)));
        }
      }
    }
  }
}

TEST_F(ChunkEncoderTest, ChunksThatDeflateWouldEnlargeAreStoredAsTheyAre) {
  Bytes random(4 * elements_of_a_chunk);
  std::mt19937 bits(3);
  for (std::byte& byte : random) byte = static_cast<std::byte>(bits());
  ChunkEncoder plain(stored(9, false, false), 4);
  EXPECT_EQ(plain.encode(random).bytes.data(), random.data());
  EXPECT_EQ(plain.encode(random).skipped_filters, 0b1U);
  ChunkEncoder shuffled(stored(9, true, true), 4);
  EXPECT_EQ(shuffled.encode(random).bytes.size(), random.size() + 4);
  EXPECT_EQ(shuffled.encode(random).skipped_filters, 0b11U);
  EXPECT_LT(shuffled.encode(Bytes(4 * elements_of_a_chunk)).bytes.size(), 100U);
  EXPECT_EQ(shuffled.encode(Bytes(4 * elements_of_a_chunk)).skipped_filters, 0U);
  ChunkEncoder tiny(stored(9, false, false), 1);
  EXPECT_EQ(tiny.encode(Bytes(1)).bytes.size(), 1U);
}

}  // namespace
}  // namespace warpfold::io

#pragma once

#include <gtest/gtest.h>
#include <hdf5.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "io/hdf5/hdf5_library.hpp"
#include "io/hdf5/hdf5_type.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::io {

/// A test with a folder of its own, gone afterwards, and the HDF5 C API to make inputs with.
class Hdf5Test : public ::testing::Test {
 protected:
  Hdf5Test() {
    std::string pattern = (std::filesystem::temp_directory_path() / "warpfold-io-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
  }
  ~Hdf5Test() override { std::filesystem::remove_all(folder_); }

  std::string path(const std::string& name) const { return folder_ + "/" + name; }

  std::vector<std::string> files_in_folder() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
      names.push_back(entry.path().filename().string());
    }
    return names;
  }

  void write_text(const std::string& name, const std::string& text) const {
    std::ofstream(path(name), std::ios::binary) << text;
  }

  FileHandle create_file(const std::string& name, hsize_t user_block = 0) const {
    const PropertiesHandle creation(H5Pcreate(H5P_FILE_CREATE));
    EXPECT_GE(H5Pset_userblock(creation.get(), user_block), 0);
    FileHandle file(H5Fcreate(path(name).c_str(), H5F_ACC_TRUNC, creation.get(), H5P_DEFAULT));
    EXPECT_TRUE(file);
    return file;
  }

 private:
  std::string folder_;
};

inline PropertiesHandle dataset_creation() {
  return PropertiesHandle(H5Pcreate(H5P_DATASET_CREATE));
}

inline SpaceHandle simple_space(const std::vector<hsize_t>& shape) {
  if (shape.empty()) return SpaceHandle(H5Screate(H5S_SCALAR));
  return SpaceHandle(H5Screate_simple(static_cast<int>(shape.size()), shape.data(), shape.data()));
}

inline DatasetHandle create_dataset_in(hid_t file, const std::string& name, hid_t type,
                                       const SpaceHandle& space, hid_t creation = H5P_DEFAULT) {
  DatasetHandle dataset(
      H5Dcreate2(file, name.c_str(), type, space.get(), H5P_DEFAULT, creation, H5P_DEFAULT));
  EXPECT_TRUE(dataset);
  return dataset;
}

inline DatasetHandle create_dataset(hid_t file, const std::string& name, hid_t type,
                                    const std::vector<hsize_t>& shape,
                                    hid_t creation = H5P_DEFAULT) {
  return create_dataset_in(file, name, type, simple_space(shape), creation);
}

template <class T>
void write_all(hid_t dataset, hid_t memory_type, const std::vector<T>& values) {
  EXPECT_GE(H5Dwrite(dataset, memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), 0);
}

/// 3, 10, 17, ...: no two neighbours alike in any byte order.
inline std::vector<std::int32_t> numbered(std::size_t count) {
  std::vector<std::int32_t> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<std::int32_t>(7 * i + 3);
  return values;
}

/// The Error that `action` throws.
inline Error error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "no Error was thrown";
  return Error("", "", "");
}

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace warpfold::io

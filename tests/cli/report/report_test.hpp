#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

namespace warpfold::cli {

/// Has an empty folder.
class ReportTest : public testing::Test {
 protected:
  ReportTest() {
    std::string name = (std::filesystem::temp_directory_path() / "warpfold-test.XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
  }
  ~ReportTest() override { std::filesystem::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  std::size_t files() const {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder_),
                                                  std::filesystem::directory_iterator()));
  }

  static std::string contents(const std::string& file) {
    std::ostringstream text;
    text << std::ifstream(file).rdbuf();
    return text.str();
  }

 private:
  std::filesystem::path folder_;
};

}  // namespace warpfold::cli

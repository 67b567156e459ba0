#include "io/dataset/foreign_format.hpp"

#include <array>
#include <cstddef>
#include <fstream>
#include <string_view>

namespace warpfold::io {
namespace {

using namespace std::string_view_literals;

/// Where HDF5 keeps its drivers' names: behind the superblock and the root group's entry.
constexpr std::size_t first_bytes = 1024;

struct Mark {
  std::string_view bytes;
  bool first;  ///< in the file; otherwise anywhere among the first bytes
  const char* name;
  const char* suggestion;
};

constexpr const char* convert_netcdf = "Convert it with nccopy -k nc4.";
constexpr const char* save_as_73 = "Save it with -v7.3, or in Octave with -hdf5.";
constexpr const char* join_files = "Write it as one file, with h5repart or h5repack.";

constexpr std::array<Mark, 8> marks{{
    {"CDF\x01"sv, true, "it is a netCDF file of the classic format", convert_netcdf},
    {"CDF\x02"sv, true, "it is a netCDF file of the 64-bit offset format", convert_netcdf},
    {"CDF\x05"sv, true, "it is a netCDF file of the CDF-5 format", convert_netcdf},
    {"MATLAB 5.0 MAT-file"sv, true, "it is a MATLAB file of an older format", save_as_73},
    {"\x0e\x03\x13\x01"sv, true, "it is an HDF4 file", "Convert it with h4toh5."},
    {"GRIB"sv, true, "it is a GRIB file", "Convert it with cdo -f nc4 copy."},
    {"NCSAfami"sv, false, "it is one of the files of HDF5's family driver", join_files},
    {"NCSAmult"sv, false, "it is one of the files of HDF5's multi or split driver", join_files},
}};

}  // namespace

std::optional<ForeignFormat> foreign_format_of(const std::string& path) {
  std::array<char, first_bytes> bytes{};
  std::ifstream file(path, std::ios::binary);
  file.read(bytes.data(), bytes.size());
  const std::string_view text(bytes.data(), static_cast<std::size_t>(file.gcount()));
  for (const Mark& mark : marks) {
    const std::size_t place = text.find(mark.bytes);
    if (place == 0 || (place != text.npos && !mark.first))
      return ForeignFormat{mark.name, mark.suggestion};
  }
  return std::nullopt;
}

}  // namespace warpfold::io

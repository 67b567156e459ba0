#include "cli/report/build_report.hpp"

#include <fmt/format.h>
#include <hdf5.h>
#include <mpi.h>

#include <string_view>
#include <vector>

#include "cli/report/text.hpp"
#include "cpu/engines/backend.hpp"
#include "cpu/machine/machine.hpp"
#include "cuda/runtime/visible_devices.hpp"
#include "io/filters/filter_step.hpp"
#include "mpi/environment.hpp"
#include "warpfold/core/version.hpp"

namespace warpfold::cli {
namespace {

std::string compiler() {
#if defined(__clang__)
  return fmt::format("Clang {}.{}.{}", __clang_major__, __clang_minor__, __clang_patchlevel__);
#elif defined(__GNUC__)
  return fmt::format("GCC {}.{}.{}", __GNUC__, __GNUC_MINOR__, __GNUC_PATCHLEVEL__);
#else
  return "unknown";
#endif
}

/// Tells the library's own name and version: some libraries go on with everything they were built
/// from.
std::string mpi_library() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = {};
  int length = 0;
  MPI_Get_library_version(text, &length);
  const std::string_view whole(text, static_cast<std::size_t>(length));
  std::string name(whole.substr(0, whole.find_first_of(",\r\n")));
  for (char& letter : name)
    if (letter == '\t') letter = ' ';
  int major = 0;
  int minor = 0;
  MPI_Get_version(&major, &minor);
  const std::string_view awareness = mpi::cuda_awareness();
  return fmt::format("{}, MPI {}.{}{}{}", name, major, minor, awareness.empty() ? "" : ", ",
                     awareness);
}

std::string hdf5_library() {
  unsigned major = 0;
  unsigned minor = 0;
  unsigned release = 0;
  H5get_libversion(&major, &minor, &release);
#ifdef H5_HAVE_PARALLEL
  constexpr std::string_view flavour = "parallel";
#else
  constexpr std::string_view flavour = "serial";
#endif
  return fmt::format("{}.{}.{}, {}", major, minor, release, flavour);
}

std::string gpus() {
  std::vector<std::string> names;
  for (const cuda::DeviceInfo& device : cuda::visible_devices()) names.push_back(device.name);
  if (names.empty()) return "none (" + cuda::unavailable_reason() + ")";
  return devices_text(names);
}

}  // namespace

BuildReport build_report() {
  BuildReport report;
  report.version = std::string(version());
  report.compiler = compiler();
  report.build_type = WARPFOLD_BUILD_TYPE;
  report.cuda = cuda::built() ? cuda::build_description() : "no, cpu backend only";
  report.mpi = mpi_library();
  report.hdf5 = hdf5_library();
  report.instruction_set = cpu::instruction_set();
  return report;
}

std::string config_text() {
  const BuildReport report = build_report();
  return "warpfold " + report.version + "\n" +
         aligned_text({{"compiler", report.compiler},
                       {"build type", report.build_type},
                       {"CUDA", report.cuda},
                       {"GPUs", gpus()},
                       {"MPI", report.mpi},
                       {"HDF5", report.hdf5},
                       {"filters", io::decodable_filters()},
                       {"CPU kernels", report.instruction_set},
                       {"cores", fmt::format("{}", cpu::available_cores())}});
}

}  // namespace warpfold::cli

#include "pipeline/run/same_files.hpp"

#include <nlohmann/json.hpp>
#include <vector>

#include "pipeline/run/collective.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold {
namespace io {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(FileVersion, device, inode, bytes, modified_ns)

}  // namespace io

namespace pipeline {
namespace {

using nlohmann::json;

json from_root(const json& mine, const mpi::Communicator& communicator) {
  std::string bytes;
  if (communicator.is_root()) json::to_msgpack(mine, bytes);
  return json::from_msgpack(mpi::broadcast(bytes, communicator));
}

Error other_file(const std::string& problem, const std::string& path) {
  return Error(
      problem,
      "'" + path + "' is a different file on host " + mpi::host_name() + " than on that of rank 0",
      "Name a file that all hosts share, or give each the same copy.");
}

Error other_time(const std::string& problem, const std::string& path) {
  return Error(problem,
               "host " + mpi::host_name() + " sees another version of '" + path + "' than rank 0",
               "Start again once its writer is done and all hosts see it.");
}

/// Returns the files that may be copies of the root's: what they hold has to be compared.
std::vector<std::string> possible_copies(const std::string& problem,
                                         const io::FileVersions& of_root) {
  std::vector<std::string> copies;
  for (const auto& [path, version] : of_root) {
    const io::FileVersion mine = io::version_of(path);
    if (mine.bytes != version.bytes) throw other_file(problem, path);
    if (mine.inode != version.inode)
      copies.push_back(path);
    else if (mine.modified_ns != version.modified_ns)
      throw other_time(problem, path);
  }
  return copies;
}

}  // namespace

void require_same_files(const std::string& problem, const io::FileVersions& of_root,
                        const mpi::Communicator& communicator) {
  if (communicator.is_alone()) return;
  const auto versions = from_root(of_root, communicator).get<io::FileVersions>();
  std::vector<std::string> copies;
  run_on_all(communicator, [&] { copies = possible_copies(problem, versions); });
  if (mpi::bitwise_or({copies.empty() ? 0u : 1u}, communicator)[0] == 0) return;

  json samples;
  run_on_root(communicator, [&] {
    for (const auto& [path, version] : versions) samples[path] = io::checksum_of_samples(path);
  });
  samples = from_root(samples, communicator);
  run_on_all(communicator, [&] {
    for (const std::string& path : copies)
      if (samples[path] != io::checksum_of_samples(path)) throw other_file(problem, path);
  });
}

}  // namespace pipeline
}  // namespace warpfold

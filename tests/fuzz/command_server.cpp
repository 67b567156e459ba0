#include <fcntl.h>
#include <hdf5.h>
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "cli/commands/program.hpp"
#include "mpi/communicator.hpp"
#include "mpi/environment.hpp"
#include "warpfold/core/error.hpp"

/// Runs command lines of warpfold one after another in the same processes. Each line of standard
/// input asks for one:
///     {"arguments": ["info", "in.h5"], "folder": FOLDER, "output": FILE, "errors": FILE}
/// It is run in the folder. The files take what all ranks write to standard output and standard
/// error. Each is answered by a line that has an element for each rank:
///     [{"status": 0, "left_open": 0}]
/// which is what run_application() returns, and the number of HDF5 objects that are still open. The
/// end of the input ends it.

namespace {

using namespace warpfold;
using Json = nlohmann::json;

/// While it lives, a stream of this process goes to the end of a file.
class Redirection {
 public:
  Redirection(std::FILE* stream, const std::string& path)
      : stream_(stream), original_(::dup(::fileno(stream))) {
    const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (original_ < 0 || file < 0 || ::dup2(file, ::fileno(stream)) < 0)
      throw Error("can't write to " + path, std::strerror(errno), "");
    ::close(file);
  }
  ~Redirection() {
    std::fflush(stream_);
    ::dup2(original_, ::fileno(stream_));
    ::close(original_);
  }
  Redirection(const Redirection&) = delete;
  Redirection& operator=(const Redirection&) = delete;

 private:
  std::FILE* stream_;
  int original_;
};

/// Waits for all ranks, less and less often: MPI's own waiting keeps a core busy.
void meet(const mpi::Communicator& communicator) {
  if (communicator.is_alone()) return;
  constexpr std::chrono::microseconds longest(4000);
  std::chrono::microseconds pause(50);
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Ibarrier(communicator.get(), &request);
  for (int met = 0; !met; MPI_Test(&request, &met, MPI_STATUS_IGNORE)) {
    std::this_thread::sleep_for(pause);
    pause = std::min(2 * pause, longest);
  }
}

/// The root's next line of standard input, on every rank; empty at the end.
std::string next_line(const mpi::Communicator& communicator) {
  std::string line;
  if (communicator.is_root()) std::getline(std::cin, line);
  meet(communicator);
  return mpi::broadcast(std::move(line), communicator);
}

Json execute(const Json& command, MPI_Comm communicator) {
  int status = 0;
  {
    std::filesystem::current_path(command.at("folder").get<std::string>());
    const Redirection output(stdout, command.at("output"));
    const Redirection errors(stderr, command.at("errors"));
    status = cli::run_application(communicator, command.at("arguments"));
  }
  const ssize_t left_open = H5Fget_obj_count(static_cast<hid_t>(H5F_OBJ_ALL), H5F_OBJ_ALL);
  return {{"status", status}, {"left_open", left_open}};
}

void answer(const Json& outcome, const mpi::Communicator& communicator) {
  Json outcomes = Json::array();
  for (const std::string& each : mpi::gather_everywhere(outcome.dump(), communicator))
    outcomes.push_back(Json::parse(each));
  if (communicator.is_root()) std::cout << outcomes.dump() << std::endl;
}

}  // namespace

int main() {
  std::optional<mpi::Environment> environment;
  if (mpi::may_have_peers()) environment.emplace();
  const mpi::Communicator communicator(environment ? MPI_COMM_WORLD : MPI_COMM_SELF);
  for (std::string line = next_line(communicator); !line.empty(); line = next_line(communicator))
    answer(execute(Json::parse(line), communicator.get()), communicator);
  return 0;
}

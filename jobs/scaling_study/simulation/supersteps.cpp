// What ranks do of a run, in simulated time: data that moves, and the exchanges of an accumulator.
//
// supersteps EXCHANGE SUPERSTEPS BYTES RANK-RATE READS WRITES TURN
//
// EXCHANGE   none, reduce, or an exclusive scan by chain or doubling
// BYTES      of a rank's data in a superstep; 0 for exchanges alone
// RANK-RATE  bytes a second, of all that a rank does with them
// READS      bytes of them that come from the file system
// WRITES     bytes that go there
// TURN       seconds that a rank which waits for a message has its core, before the next has it; 0
//            where each rank has a core of its own
//
// Prints the seconds that the slowest rank takes (the median of several exchanges). A superstep's
// exchange goes on while data of the next is read and of the last written; a reduction follows its
// data.

#include <mpi.h>
#include <smpi/smpi.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <random>
#include <simgrid/s4u.hpp>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

namespace s4u = simgrid::s4u;

constexpr int message_bytes = 2272;
using Message = std::vector<char>;

/// The cores of all hosts, each of which ranks have in turns. Ranks are threads of one process.
std::map<std::pair<s4u::Host*, int>, s4u::SemaphorePtr> cores;
std::map<s4u::Host*, int> ranks_on;
int unfinished = 0;

s4u::SemaphorePtr core_of(s4u::Host* host) {
  const int number = ranks_on[host]++ % host->get_core_count();
  s4u::SemaphorePtr& core = cores[{host, number}];
  if (!core) core = s4u::Semaphore::create(1);
  return core;
}

/// A rank that sends and receives as MPI does while it waits: it looks, and lets another have its
/// core.
class Rank {
 public:
  explicit Rank(double turn) : turn_(turn) {
    MPI_Comm_rank(MPI_COMM_WORLD, &number);
    MPI_Comm_size(MPI_COMM_WORLD, &count);
    if (turn > 0) core_ = core_of(s4u::this_actor::get_host());
    random_.seed(static_cast<unsigned>(number));
    ++unfinished;
  }
  void send(int to) const {
    MPI_Send(sent_.data(), message_bytes, MPI_BYTE, to, 0, MPI_COMM_WORLD);
  }
  void receive(int from) {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Irecv(received_.data(), message_bytes, MPI_BYTE, from, 0, MPI_COMM_WORLD, &request);
    for (int arrived = 0; core_ && arrived == 0;)
      take_turn([&] { MPI_Test(&request, &arrived, MPI_STATUS_IGNORE); });
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  /// Waits for all ranks, as what follows does.
  void finish() {
    --unfinished;
    while (core_ && unfinished > 0) take_turn([] {});
  }

  bool shares_core() const { return core_ != nullptr; }

  int number = 0;
  int count = 1;

 private:
  /// Turns differ, lest all cores go round in step.
  template <class Look>
  void take_turn(const Look& look) {
    core_->acquire();
    s4u::this_actor::sleep_for(turn_ * 2 * uniform_(random_));
    look();
    core_->release();
  }

  double turn_;
  s4u::SemaphorePtr core_;
  std::minstd_rand random_;
  std::uniform_real_distribution<double> uniform_;
  Message sent_ = Message(message_bytes), received_ = Message(message_bytes);
};

/// Along a binomial tree to rank 0.
void reduce(Rank& rank) {
  for (int distance = 1; distance < rank.count; distance *= 2) {
    if ((rank.number & distance) != 0) return rank.send(rank.number - distance);
    if (rank.number + distance < rank.count) rank.receive(rank.number + distance);
  }
}

/// And back.
void broadcast(Rank& rank) {
  int distance = 1;
  while (distance < rank.count && (rank.number & distance) == 0) distance *= 2;
  if (rank.number > 0) rank.receive(rank.number - distance);
  while ((distance /= 2) > 0)
    if (rank.number + distance < rank.count) rank.send(rank.number + distance);
}

/// From rank to rank, as Open MPI's MPI_Exscan.
void scan_along_chain(Rank& rank) {
  if (rank.number > 0) rank.receive(rank.number - 1);
  if (rank.number + 1 < rank.count) rank.send(rank.number + 1);
}

/// Among twice as many ranks in each round, as DoublingScan.
void scan_by_doubling(Rank& rank) {
  for (int distance = 1; distance < rank.count; distance *= 2) {
    if (rank.number + distance < rank.count) rank.send(rank.number + distance);
    if (rank.number >= distance) rank.receive(rank.number - distance);
  }
}

/// As Open MPI's MPI_Barrier. Ranks that share cores leave it at different times, as they do before
/// what is measured.
void meet(Rank& rank) {
  for (int distance = 1; distance < rank.count; distance *= 2) {
    rank.send((rank.number + distance) % rank.count);
    rank.receive((rank.number + rank.count - distance) % rank.count);
  }
}

/// What moves while ranks exchange.
class Transfers {
 public:
  Transfers() : host_(s4u::this_actor::get_host()) {
    const std::string number = host_->get_name().substr(std::string("host").size());
    client_ = s4u::Host::by_name("files" + number);
    files_ = s4u::Host::by_name("files");
  }
  /// `bytes` at a rank's rate and its host's.
  void work(double bytes, double rank_rate) {
    if (bytes <= 0) return;
    pending_.push_back(s4u::this_actor::exec_async(bytes / rank_rate));
    pending_.push_back(host_->get_disks().front()->read_async(static_cast<sg_size_t>(bytes)));
  }
  void read(double bytes) { move(files_, client_, bytes); }
  void write(double bytes) { move(client_, files_, bytes); }
  void wait() {
    for (const s4u::ActivityPtr& each : pending_) each->wait();
    pending_.clear();
  }

 private:
  void move(s4u::Host* from, s4u::Host* to, double bytes) {
    if (bytes > 0)
      pending_.push_back(s4u::Comm::sendto_async(from, to, static_cast<std::uint64_t>(bytes)));
  }

  s4u::Host* host_;
  s4u::Host* client_;
  s4u::Host* files_;
  std::vector<s4u::ActivityPtr> pending_;
};

struct Plan {
  std::string exchange;
  int supersteps;
  double bytes, rank_rate, reads, writes;
};

void exchange(const Plan& plan, Rank& rank) {
  if (plan.exchange == "none") return;
  if (plan.exchange == "reduce") return reduce(rank);
  if (plan.exchange == "chain")
    scan_along_chain(rank);
  else if (plan.exchange == "doubling")
    scan_by_doubling(rank);
  else
    throw std::invalid_argument("no exchange is called " + plan.exchange);
  if (plan.bytes <= 0) return;
  reduce(rank);
  broadcast(rank);
}

void run_reduction(const Plan& plan, Rank& rank) {
  Transfers transfers;
  transfers.work(plan.bytes, plan.rank_rate);
  transfers.read(plan.reads);
  transfers.wait();
  exchange(plan, rank);
}

/// Half of a superstep's work is before its exchange, and half is after.
void run_scan(const Plan& plan, Rank& rank) {
  Transfers transfers;
  for (int step = -1; step <= plan.supersteps; ++step) {
    const bool reads = step + 1 < plan.supersteps;
    const bool writes = step > 0;
    transfers.work(plan.bytes / 2 * (reads + writes), plan.rank_rate);
    transfers.read(reads ? plan.reads : 0);
    transfers.write(writes ? plan.writes : 0);
    if (step >= 0 && step < plan.supersteps) exchange(plan, rank);
    transfers.wait();
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc != 8) return EXIT_FAILURE;
  const auto number = [argv](int place) { return std::atof(argv[place]); };
  const Plan plan{argv[1], std::atoi(argv[2]), number(3), number(4), number(5), number(6)};
  Rank rank(number(7));
  // Several exchanges where chance decides over turns.
  static std::vector<double> slowest(rank.shares_core() && plan.bytes <= 0 ? 15 : 1);
  for (double& seconds : slowest) {
    if (rank.shares_core()) meet(rank);
    const double start = MPI_Wtime();
    plan.exchange == "reduce" ? run_reduction(plan, rank) : run_scan(plan, rank);
    seconds = std::max(seconds, MPI_Wtime() - start);
  }
  rank.finish();
  MPI_Barrier(MPI_COMM_WORLD);
  const auto median = slowest.begin() + slowest.size() / 2;
  if (rank.number == 0) {
    std::nth_element(slowest.begin(), median, slowest.end());
    std::printf("%.12g\n", *median);
  }
  MPI_Finalize();
}

// What ranks do of a run, in simulated time: data that moves, and the exchanges of an accumulator.
//
// supersteps EXCHANGE SUPERSTEPS BYTES RANK-RATE READS WRITES
//
// EXCHANGE   none, reduce, or an exclusive scan by chain or doubling
// BYTES      of a rank's data in a superstep; 0 for exchanges alone
// RANK-RATE  bytes a second, of all that a rank does with them
// READS      bytes of them that come from the file system
// WRITES     bytes that go there
//
// Prints the seconds that the slowest rank takes. A superstep's exchange goes on while data of the
// next is read and of the last written; a reduction follows its data.

#include <mpi.h>
#include <smpi/smpi.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <simgrid/s4u.hpp>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

namespace s4u = simgrid::s4u;

constexpr int message_bytes = 2272;
using Message = std::vector<char>;

struct Rank {
  int number;
  int count;
};

Rank this_rank() {
  Rank rank{};
  MPI_Comm_rank(MPI_COMM_WORLD, &rank.number);
  MPI_Comm_size(MPI_COMM_WORLD, &rank.count);
  return rank;
}

/// One element of a message's size, as a rank's accumulator is for MPI.
class Merge {
 public:
  Merge() {
    MPI_Type_contiguous(message_bytes, MPI_BYTE, &type_);
    MPI_Type_commit(&type_);
    MPI_Op_create(&keep, 1, &operation_);
  }
  ~Merge() {
    MPI_Op_free(&operation_);
    MPI_Type_free(&type_);
  }
  Merge(const Merge&) = delete;
  Merge& operator=(const Merge&) = delete;
  void reduce() const {
    Message mine(message_bytes), whole(message_bytes);
    MPI_Reduce(mine.data(), whole.data(), 1, type_, operation_, 0, MPI_COMM_WORLD);
  }
  void reduce_everywhere() const {
    Message mine(message_bytes), whole(message_bytes);
    MPI_Allreduce(mine.data(), whole.data(), 1, type_, operation_, MPI_COMM_WORLD);
  }

 private:
  static void keep(void*, void*, int*, MPI_Datatype*) {}
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
  MPI_Op operation_ = MPI_OP_NULL;
};

/// From rank to rank, as Open MPI's MPI_Exscan.
void scan_along_chain(Rank rank) {
  Message message(message_bytes);
  if (rank.number > 0)
    MPI_Recv(message.data(), message_bytes, MPI_BYTE, rank.number - 1, 0, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
  if (rank.number + 1 < rank.count)
    MPI_Send(message.data(), message_bytes, MPI_BYTE, rank.number + 1, 0, MPI_COMM_WORLD);
}

/// Among twice as many ranks in each round, as DoublingScan.
void scan_by_doubling(Rank rank) {
  Message mine(message_bytes), lower(message_bytes);
  for (int distance = 1; distance < rank.count; distance *= 2) {
    MPI_Request incoming = MPI_REQUEST_NULL;
    if (rank.number >= distance)
      MPI_Irecv(lower.data(), message_bytes, MPI_BYTE, rank.number - distance, 0, MPI_COMM_WORLD,
                &incoming);
    if (rank.number + distance < rank.count)
      MPI_Send(mine.data(), message_bytes, MPI_BYTE, rank.number + distance, 0, MPI_COMM_WORLD);
    MPI_Wait(&incoming, MPI_STATUS_IGNORE);
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

void exchange(const Plan& plan, Rank rank, const Merge& merge) {
  if (rank.count == 1 || plan.exchange == "none") return;
  if (plan.exchange == "reduce") return merge.reduce();
  if (plan.exchange == "chain")
    scan_along_chain(rank);
  else if (plan.exchange == "doubling")
    scan_by_doubling(rank);
  else
    throw std::invalid_argument("no exchange is called " + plan.exchange);
  if (plan.bytes > 0) merge.reduce_everywhere();
}

void reduce(const Plan& plan, Rank rank, const Merge& merge) {
  Transfers transfers;
  transfers.work(plan.bytes, plan.rank_rate);
  transfers.read(plan.reads);
  transfers.wait();
  exchange(plan, rank, merge);
}

/// Half of a superstep's work is before its exchange, and half is after.
void scan(const Plan& plan, Rank rank, const Merge& merge) {
  Transfers transfers;
  for (int step = -1; step <= plan.supersteps; ++step) {
    const bool reads = step + 1 < plan.supersteps;
    const bool writes = step > 0;
    transfers.work(plan.bytes / 2 * (reads + writes), plan.rank_rate);
    transfers.read(reads ? plan.reads : 0);
    transfers.write(writes ? plan.writes : 0);
    if (step >= 0 && step < plan.supersteps) exchange(plan, rank, merge);
    transfers.wait();
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc != 7) return EXIT_FAILURE;
  const Plan plan{argv[1],
                  std::atoi(argv[2]),
                  std::atof(argv[3]),
                  std::atof(argv[4]),
                  std::atof(argv[5]),
                  std::atof(argv[6])};
  const Rank rank = this_rank();
  double seconds = 0;
  {
    const Merge merge;
    const double start = MPI_Wtime();
    plan.exchange == "reduce" ? reduce(plan, rank, merge) : scan(plan, rank, merge);
    seconds = MPI_Wtime() - start;
  }
  double slowest = seconds;
  if (rank.count > 1) MPI_Reduce(&seconds, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  if (rank.number == 0) std::printf("%.12g\n", slowest);
  MPI_Finalize();
}

#include <cstdint>
#include <memory>
#include <string>

#include "bench/host/host_benchmark.hpp"
#include "core/engine/backend.hpp"
#include "cpu/engines/backend.hpp"

namespace warpfold::bench::host {
namespace {

class HostScans {
 public:
  explicit HostScans(const Setup& setup)
      : bytes_(setup.bytes),
        runs_(setup.runs),
        backend_(cpu::make_backend(setup.threads, setup.kernels)) {}

  void run() {
    print_heading("total");
    for (const Data data : {Data::uniform, Data::normal, Data::wide, Data::sprinkled}) {
      run_type<double>(ElementType::f64, data);
      run_type<float>(ElementType::f32, data);
    }
    run_type<std::int32_t>(ElementType::i32, Data::uniform);
  }

 private:
  /// All elements are one block, whose prefixes begin from its totals.
  template <class T>
  void run_type(ElementType type, Data data) {
    const std::uint64_t elements = bytes_ / sizeof(T);
    const ScanSpec spec{
        {type}, ScanOperation::sum, false, default_scan_output(type, ScanOperation::sum)};
    const auto engine = backend_->make_scan_engine(
        {{spec.input, {}, elements, 0, Staging::packed}, elements}, spec);
    const Ticket ticket = engine->take(0, 0, {0, elements});
    fill<T>(ticket.memory, data);
    engine->submit(ticket, staged_run({}, {0, elements}));
    engine->total(0, 0, elements);
    const std::string label = std::string(warpfold::name_of(type)) + ' ' + name_of(data);
    const Accumulator none = Accumulator::empty();
    measure_and_print(
        {candidate(label + ": total", [&] { sink_ = engine->total(0, 0, elements).count; }),
         candidate(label + ": scan", [&] { engine->scan(0, 0, elements, none); })},
        bytes_, runs_);
  }

  std::uint64_t bytes_;
  int runs_;
  std::unique_ptr<Backend> backend_;
  std::int64_t sink_ = 0;
};

}  // namespace

void bench_scans(const Setup& setup) { HostScans(setup).run(); }

}  // namespace warpfold::bench::host

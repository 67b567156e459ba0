#include "cpu/engines/host_block_engine.hpp"

namespace warpfold::cpu {

ElementFormat held_by_scan(const StagingPlan& plan) {
  if (plan.decoding.trivial()) return plan.format;
  return {plan.decoding.value_type(plan.format.type), native_byte_order};
}

std::vector<std::unique_ptr<ElementDecoder>> decoders_of_scan(const Kernels& kernels,
                                                              const StagingPlan& plan,
                                                              ScanOperation operation) {
  std::vector<std::unique_ptr<ElementDecoder>> decoders;
  if (plan.decoding.trivial()) return decoders;
  for (int thread = 0; thread < plan.threads; ++thread)
    decoders.push_back(
        make_element_decoder(kernels, plan.format, plan.decoding,
                             scan_identity_bits(operation, held_by_scan(plan).type)));
  return decoders;
}

BlockInputs::BlockInputs(const Kernels& kernels, const StagingPlan& plan, ElementFormat held,
                         std::vector<std::unique_ptr<ElementDecoder>> decoders,
                         std::uint64_t elements, int blocks)
    : kernels_(kernels),
      stored_bytes_(size_of(plan.format.type)),
      format_(held),
      in_place_(plan.staging == Staging::packed && decoders.empty()) {
  for (int block = 0; block < blocks; ++block) blocks_.emplace_back(elements * size_of(held.type));
  decoders.resize(static_cast<std::size_t>(plan.threads));
  for (auto& decoder : decoders) {
    const std::size_t packed = decoder ? block_elements * stored_bytes_ : 0;
    threads_.push_back({PageBuffer(in_place_ ? 0 : plan.slot_bytes()), PageBuffer(packed),
                        std::move(decoder), MaskedPlaces(kernels, plan.decoding.mask)});
  }
}

Ticket BlockInputs::take(int thread, int block, ElementRange places) {
  if (in_place_) return {{at(block, places.first), places.count * stored_bytes_}, thread, block};
  return {threads_[static_cast<std::size_t>(thread)].staging.span(), thread, block};
}

void BlockInputs::submit(const Ticket& ticket, const StagedChunks& piece) {
  if (in_place_) return;
  Thread& from = threads_[static_cast<std::size_t>(ticket.thread)];
  const int block = ticket.slot;
  const std::byte* staged = ticket.memory.data();
  if (!from.decoder) return assemble(kernels_, stored_bytes_, piece, staged, at(block, 0));
  const std::optional<StagedRun> run = run_of(piece);
  if (run && run->source % stored_bytes_ == 0)
    return decode(from, staged + run->source, *run, piece.indices, block);
  std::byte* packed = from.packed.span().data();
  assemble(kernels_, stored_bytes_, piece, staged, packed, [&](std::uint64_t place, std::size_t n) {
    fill(from, packed, n, place, piece.indices, block);
  });
}

void BlockInputs::decode(Thread& from, const std::byte* stored, const StagedRun& run,
                         const BoxIndices& indices, int block) {
  for (std::uint64_t first = 0; first < run.elements; first += block_elements) {
    const std::uint64_t n = std::min<std::uint64_t>(block_elements, run.elements - first);
    fill(from, stored + first * stored_bytes_, n, run.place + first, indices, block);
  }
}

void BlockInputs::fill(Thread& from, const std::byte* stored, std::size_t n, std::uint64_t place,
                       const BoxIndices& indices, int block) {
  const DecodedValues decoded = from.mask.decode(*from.decoder, stored, n, {indices, place});
  from.decoder->fill(decoded, n, at(block, place));
}

}  // namespace warpfold::cpu

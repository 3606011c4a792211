// The modulus that a share of the pixels do not exceed: the scale of a hologram.
// Needs -ffp-contract=off: the scale is the same bits on every backend, and codes depend on it.
#include <algorithm>
#include <bit>
#include <cmath>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/core/parallel.hpp>
#include <holotone/core/simd.hpp>
#include <holotone/quantize/error_diffusion_engine.hpp>
#include <holotone/quantize/modulus_share.hpp>

namespace holotone {
namespace {

// Squares of moduli are in float64, which has the range for all of them, and their bits are ordered like their values.
// The first pass counts the first half of the upper 32 bits, the second pass the other half within the bin of the rank.
// The lower bits round up, by 2^-21 at most.
constexpr std::size_t bins = 65536;
constexpr std::uint32_t first_not_finite = 0x7FF0;  ///< of upper halves
constexpr std::int64_t at_once = 512;

/// Upper 32 bits of squares of moduli; values that are not finite have all exponent bits set.
HOLOTONE_SIMD_CLONES void squares_of(const Complex* __restrict values, std::int64_t count, double of_imaginary,
                                     std::uint32_t* __restrict bits) {
  for (std::int64_t i = 0; i < count; ++i) {
    const auto re = static_cast<double>(values[i].real());
    const auto im = static_cast<double>(values[i].imag());
    const double square = re * re + of_imaginary * (im * im);
    bits[i] = static_cast<std::uint32_t>(std::bit_cast<std::uint64_t>(square) >> 32) & 0x7FFFFFFFU;
  }
}

/// Bin of `counts` that contains the rank; `rank` becomes the rank within that bin.
std::uint32_t bin_at(const std::vector<std::int64_t>& counts, std::int64_t& rank) {
  std::size_t bin = 0;
  for (; bin + 1 < bins && counts[bin] < rank; ++bin) rank -= counts[bin];
  return static_cast<std::uint32_t>(bin);
}

}  // namespace

ModulusShare::ModulusShare(Modulation modulation, double share) : modulation_(modulation), share_(share), bins_(bins) {
  if (!(share > 0 && share <= 1)) throw_argument("ModulusShare", "share", "above 0, up to 1", fmt::format("{}", share));
}

template <class Count>
void ModulusShare::tally(std::span<const Complex> values, std::vector<Count>& counts) const {
  std::uint32_t bits[at_once];
  const auto all = std::ssize(values);
  for (std::int64_t i = 0; i < all; i += at_once) {
    const std::int64_t some = std::min(at_once, all - i);
    squares_of(values.data() + i, some, modulation_ == Modulation::phase ? 1 : 0, bits);
    if (second_) {
      for (std::int64_t k = 0; k < some; ++k) {
        if (bits[k] >> 16 == upper_) ++counts[bits[k] & 0xFFFFU];
      }
    } else {
      // Upper halves use half of the bins. Two counts alternate, because an increment would wait for the last one of
      // its bin.
      for (std::int64_t k = 0; k < some; ++k) ++counts[static_cast<std::size_t>(k % 2) * (bins / 2) + (bits[k] >> 16)];
    }
  }
}

void ModulusShare::add(View<const Complex, 2> block) {
  constexpr std::int64_t max_chunks = 64;
  constexpr std::int64_t min_chunk = 1 << 18;
  const auto values = block.host();
  const auto count = static_cast<std::int64_t>(values.size());
  const std::int64_t chunks = std::min(count / min_chunk, max_chunks);
  if (chunks < 2) {
    tally(values, bins_);
  } else {
    std::vector<std::vector<std::uint32_t>> parts(static_cast<std::size_t>(chunks));
    parallel_for(0, chunks, [&](std::int64_t chunk) {
      auto& part = parts[static_cast<std::size_t>(chunk)];
      part.assign(bins, 0);
      const auto first = static_cast<std::size_t>(chunk * count / chunks);
      tally(values.subspan(first, static_cast<std::size_t>((chunk + 1) * count / chunks) - first), part);
    });
    for (const auto& part : parts) {
      for (std::size_t bin = 0; bin < bins; ++bin) bins_[bin] += part[bin];
    }
  }
  if (second_) return;
  if (broken_ < 0 && count_not_finite() > 0) {
    const auto at = std::find_if(values.begin(), values.end(), [](const Complex& value) {
      return !std::isfinite(value.real()) || !std::isfinite(value.imag());
    });
    broken_ = count_ + (at - values.begin());
  }
  count_ += count;
}

std::int64_t ModulusShare::count_not_finite() const {
  std::int64_t count = 0;
  for (std::size_t bin = first_not_finite; bin < bins / 2; ++bin) count += bins_[bin] + bins_[bins / 2 + bin];
  return count;
}

bool ModulusShare::another_pass() {
  if (!second_) {
    const std::int64_t known = count_ - count_not_finite();
    rank_ = std::clamp<std::int64_t>(static_cast<std::int64_t>(std::ceil(share_ * static_cast<double>(known))), 1,
                                     std::max<std::int64_t>(known, 1));
    for (std::size_t bin = 0; bin < bins / 2; ++bin) bins_[bin] += bins_[bins / 2 + bin];
    upper_ = bin_at(bins_, rank_);
    std::fill(bins_.begin(), bins_.end(), 0);
    second_ = true;
    return known > 0;
  }
  const std::uint32_t lower = bin_at(bins_, rank_);
  modulus_ = diffusion::modulus_of(upper_ << 16 | lower);
  return false;
}

}  // namespace holotone

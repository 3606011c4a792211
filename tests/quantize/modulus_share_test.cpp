// Quantile of moduli from blocks, against sorting.
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <holotone/core/random.hpp>
#include <holotone/quantize/modulus_share.hpp>
#include <limits>
#include <tests/support/on_each_device.hpp>

namespace holotone {
namespace {

Array<Complex, 2> numbers(Shape<2> shape, std::uint64_t seed) {
  Array<Complex, 2> field(shape);
  for (std::int64_t i = 0; i < field.size(); ++i) {
    const auto at = static_cast<std::uint64_t>(i);
    field.data()[i] = {static_cast<float>(random_uniform64(seed, 2 * at) - 0.5),
                       static_cast<float>(random_uniform64(seed, 2 * at + 1) - 0.5)};
  }
  return field;
}

/// In blocks of `rows` rows.
ModulusShare measure_share(const Array<Complex, 2>& field, Modulation modulation, double share, std::int64_t rows) {
  ModulusShare found(modulation, share);
  const auto [ny, nx] = field.shape();
  do {
    for (std::int64_t row = 0; row < ny; row += rows) {
      found.add({field.data() + row * nx, {std::min(rows, ny - row), nx}});
    }
  } while (found.another_pass());
  return found;
}

TEST(ModulusShare, IsTheSortedOnesWhateverTheBlocks) {
  const auto field = numbers({700, 900}, 1);
  for (const auto modulation : {Modulation::phase, Modulation::amplitude}) {
    std::vector<double> moduli;
    for (const Complex value : field.host()) {
      const std::complex<double> number = value;
      moduli.push_back(modulation == Modulation::phase ? std::abs(number) : std::abs(number.real()));
    }
    std::sort(moduli.begin(), moduli.end());
    for (const double share : {1e-6, 0.3, 0.999, 1.0}) {
      const auto rank = static_cast<std::size_t>(std::ceil(share * static_cast<double>(moduli.size())));
      const double expected = moduli[std::max<std::size_t>(rank, 1) - 1];
      const float whole = measure_share(field, modulation, share, 700).modulus();
      support::expect_within(fmt::format("share {}", share), std::abs(static_cast<double>(whole) - expected) / expected,
                             std::ldexp(1.0, -20));
      for (const std::int64_t rows : {1, 37, 512}) {
        EXPECT_EQ(measure_share(field, modulation, share, rows).modulus(), whole) << rows;
      }
    }
  }
}

TEST(ModulusShare, NamesTheFirstThatIsNotFinite) {
  auto field = numbers({20, 30}, 2);
  EXPECT_EQ(measure_share(field, Modulation::phase, 0.999, 3).broken(), -1);
  field(17, 4) = {1, std::numeric_limits<float>::infinity()};
  field(11, 29) = {std::nanf(""), 0};
  for (const auto modulation : {Modulation::phase, Modulation::amplitude}) {
    for (const std::int64_t rows : {1, 3, 20}) {
      const auto found = measure_share(field, modulation, 1, rows);
      EXPECT_EQ(found.broken(), 11 * 30 + 29);
      EXPECT_TRUE(std::isfinite(found.modulus()));
    }
  }
}

TEST(ModulusShare, NothingAndZeros) {
  EXPECT_EQ(measure_share(Array<Complex, 2>({0, 5}), Modulation::phase, 0.5, 1).modulus(), 0);
  Array<Complex, 2> zeros({3, 5});
  std::fill_n(zeros.data(), zeros.size(), Complex(0));
  EXPECT_EQ(measure_share(zeros, Modulation::phase, 0.5, 2).modulus(), 0);
  support::expect_error(ErrorCode::invalid_argument, "ModulusShare: share",
                        [] { (void)ModulusShare(Modulation::phase, 0); });
}

}  // namespace
}  // namespace holotone

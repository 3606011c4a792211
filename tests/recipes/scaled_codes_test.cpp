// Holograms whose codes have few bits, as they are or from black to white.
#include <cmath>
#include <complex>
#include <gtest/gtest.h>
#include <holotone/io/images/image.hpp>
#include <holotone/recipes/codes/panel_pictures_detail.hpp>
#include <holotone/recipes/hologram_file.hpp>
#include <holotone/recipes/phase_map.hpp>
#include <tests/support/io_support.hpp>
#include <tests/support/on_each_device.hpp>

namespace holotone {
namespace {

using io_support::error_of;
using support::expect_error;

constexpr std::int64_t nx = 5;
constexpr std::int64_t ny = 3;

class ScaledCodesTest : public ::testing::Test {
 protected:
  [[nodiscard]] std::string path(const std::string& name) const { return folder_.file(name); }

  /// Writes pixel i as code_of(i).
  template <class CodeOf>
  std::string write(const std::string& name, const CodeOf& code_of, const Metadata& metadata = {}, int bits = 0,
                    const ImageWriteOptions& options = {}) const {
    Array<std::uint8_t, 3> pixels({ny, nx, 1});
    for (std::int64_t i = 0; i < pixels.size(); ++i) pixels.data()[i] = static_cast<std::uint8_t>(code_of(i));
    write_image(path(name), {std::move(pixels), metadata, {}, bits}, options);
    return path(name);
  }

 private:
  io_support::TemporaryFolder folder_;
};

HologramReadOptions options_with(const std::string& bits) {
  HologramReadOptions options;
  options.overrides = {{"pitch_m", "8e-6"}, {"wavelength_m", "5.32e-7"}};
  if (!bits.empty()) options.overrides["bits"] = bits;
  return options;
}

/// Expects the light of phase codes code_of(i) of `bits` bits: exp(2 pi i code / 2^bits).
template <class CodeOf>
void expect_light(const HologramLight& light, const CodeOf& code_of, int bits) {
  ASSERT_EQ(light.field.shape(), (Shape<2>{ny, nx}));
  for (std::int64_t i = 0; i < light.field.size(); ++i) {
    const auto expected = std::polar(1.0, 2 * M_PI * static_cast<double>(code_of(i)) / std::pow(2, bits));
    EXPECT_NEAR(std::abs(std::complex<double>(light.field.data()[i]) - expected), 0, 1e-6) << i;
  }
}

int binary(std::int64_t i) { return static_cast<int>(i * i % 3 % 2); }
int quaternary(std::int64_t i) { return static_cast<int>(i * 3 % 4); }

TEST_F(ScaledCodesTest, BlackAndWhiteAloneNeedBits) {
  const auto file = write("x.bmp", [](auto i) { return 255 * binary(i); });
  const std::string asked = error_of([&] { (void)read_hologram(file, options_with("")); });
  EXPECT_EQ(asked, file + ": expected bits, 1 or 8, of codes that are all 0 or 255, got none stated");
  EXPECT_EQ(error_of([&] { (void)HologramRows(file, options_with("")); }), asked);
  const auto one = read_hologram(file, options_with("1"));
  expect_light(one, binary, 1);
  EXPECT_EQ(one.notes, std::vector{file + ": codes 0 to 255 are read as 0 to 1 of 1 bit"});
  const auto eight = read_hologram(file, options_with("8"));
  expect_light(
      eight, [](auto i) { return 255 * binary(i); }, 8);
  EXPECT_TRUE(eight.notes.empty());
  // As amplitudes both are the same: nothing is asked.
  auto amplitude = options_with("");
  amplitude.overrides.insert({{"encoding", "amplitude"}, {"amplitude_min", "-1"}, {"amplitude_max", "1"}});
  EXPECT_TRUE(read_hologram(file, amplitude).notes.empty());
}

TEST_F(ScaledCodesTest, PixelsOfFewBitsAreCodes) {
  expect_light(read_hologram(write("x.png", binary, {}, 1), options_with("")), binary, 1);
  expect_light(read_hologram(write("y.png", quaternary, {}, 2), options_with("")), quaternary, 2);
  expect_light(read_hologram(write("z.png", quaternary), options_with("2")), quaternary, 2);
  EXPECT_MENTIONS(error_of([&] { (void)read_hologram(path("x.png"), options_with("8")); }),
                  "expected bits from 1 to the 1 of a pixel, got 8");
}

TEST_F(ScaledCodesTest, FilesThatStateItAreReadBack) {
  Metadata metadata{{"encoding", "phase"}, {"bits", "2"}, {"pitch_m", "8e-6"}, {"wavelength_m", "5.32e-7"}};
  const auto file = write("x.png", quaternary, metadata, 0, {.scaled_bits = 2});
  const auto light = read_hologram(file);
  expect_light(light, quaternary, 2);
  EXPECT_TRUE(light.notes.empty());
  const HologramRows rows(file);
  Array<Complex, 2> last({1, nx});
  rows.read(ny - 1, last.view());
  for (std::int64_t x = 0; x < nx; ++x) EXPECT_EQ(last(0, x), light.field(ny - 1, x));
  // All of the codes 0 and 3 alone are scaled too: the file states its bits.
  expect_light(
      read_hologram(write("ends.png", [](auto i) { return 3 * binary(i); }, metadata, 0, {.scaled_bits = 2})),
      [](auto i) { return 3 * binary(i); }, 2);
  metadata["scaled_codes"] = "1";
  const auto bad = write(
      "bad.png", [](auto i) { return 85 * quaternary(i) + (i == 4 ? 1 : 0); }, metadata);
  EXPECT_MENTIONS(error_of([&] { (void)read_hologram(bad); }),
                  "expected codes of 2 bits scaled to 8 bits (scaled_codes), got 1");
  metadata.erase("scaled_codes");
  const auto large = write(
      "large.png", [](auto i) { return 80 * quaternary(i); }, metadata);
  EXPECT_MENTIONS(error_of([&] { (void)read_hologram(large); }), "codes of 2 bits, at most 3, got 240");
}

TEST_F(ScaledCodesTest, ACorrectionOfFewBitsIsOneWave) {
  const auto map = read_correction(write("x.png", quaternary, {}, 2), {ny, nx});
  for (std::int64_t i = 0; i < map.size(); ++i) {
    EXPECT_NEAR(static_cast<double>(map.data()[i]), 2 * M_PI * quaternary(i) / 4, 1e-6);
  }
}

int shown(const PanelPicture& picture, std::int64_t pixel) {
  return std::get<Array<std::uint8_t, 2>>(picture.codes).data()[pixel];
}

TEST_F(ScaledCodesTest, PanelsShowCodes) {
  const Metadata stated{{"bits", "2"}};
  const auto few = write("few.png", quaternary, {}, 2);
  const auto wide = write("wide.png", quaternary, stated);
  const auto scaled = write("scaled.png", quaternary, stated, 0, {.scaled_bits = 2});
  for (const auto& file : {few, wide, scaled}) {
    const auto raws = read_panel_pictures({file}, {});
    const auto fulls = read_panel_pictures({file}, {.scale_codes = true});
    const PanelPicture& raw = raws.front();
    const PanelPicture& full = fulls.front();
    for (std::int64_t i = 0; i < ny * nx; ++i) {
      EXPECT_EQ(shown(raw, i), quaternary(i)) << file;
      EXPECT_EQ(shown(full, i), 85 * quaternary(i)) << file;
    }
    EXPECT_EQ(raw.notes.size(), file == wide ? 0U : 1U);
    EXPECT_TRUE(full.notes.empty());
  }
  EXPECT_EQ(read_panel_pictures({few}, {}).front().notes.front(),
            few + ": its white is sent as code 3 of 2 bits; --scale-codes sends 255");
  const auto beyond = write(
      "beyond.png", [](auto i) { return 2 * i; }, stated);
  expect_error(ErrorCode::invalid_argument, "codes of its 2 bits, at most 3",
               [&] { (void)read_panel_pictures({beyond}, {.scale_codes = true}); });
}

}  // namespace
}  // namespace holotone

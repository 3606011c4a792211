#pragma once
// A scene, speckle and command lines for the tests of `holotone quantize`.
#include <cmath>
#include <complex>
#include <holotone/core/random.hpp>
#include <tests/support/program.hpp>

namespace holotone::test {

class QuantizeTest : public ProgramTest {
 protected:
  static constexpr std::int64_t side = 256;
  static constexpr double pitch_m = 1e-6;
  static constexpr double wavelength_m = 532e-9;

  /// Points behind a panel of 256 x 256 pixels of 1 um, whose light reaches the viewer 36 mm in front.
  void make_scene() const {
    std::vector<std::array<double, 4>> points;
    for (std::uint64_t i = 0; i < 60; ++i) {
      points.push_back(
          {1.2e-4 * (random_uniform64(1, 2 * i) - 0.5), 1.2e-4 * (random_uniform64(1, 2 * i + 1) - 0.5), -2e-3, 1});
    }
    write_cloud("points.csv", points);
    const auto made = run({"hologram", path("points.csv"), "-o", path("scene.npy"), "--resolution", "256x256",
                           "--pitch", "1um", "--keep-coordinates", "--random-phase"});
    ASSERT_EQ(made.exit_code, 0) << made.error;
  }

  /// Speckle, as NPY without metadata.
  std::string speckle(const std::string& name, std::int64_t ny, std::int64_t nx, double size = 1) const {
    FieldFile file{Array<std::complex<float>, 2>({ny, nx}), {}};
    for (std::int64_t i = 0; i < file.values.size(); ++i) {
      const auto at = static_cast<std::uint64_t>(i);
      file.values.data()[i] = std::complex<float>(std::polar(
          size * std::sqrt(-std::log(1 - random_uniform64(2, 2 * at))), 2 * M_PI * random_uniform64(2, 2 * at + 1)));
    }
    write_field(path(name), file);
    return path(name);
  }

  /// Arguments of quantize IN -o OUT with the grid of `speckle`.
  [[nodiscard]] std::vector<std::string> line(const std::string& input, const std::string& output,
                                              const std::vector<std::string>& more = {}) const {
    std::vector<std::string> arguments{"quantize", path(input), "-o",  path(output),   "--device",
                                       "cpu",      "--pitch",   "1um", "--wavelength", "532nm"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }

  [[nodiscard]] Image image(const std::string& name) const { return read_image(path(name)); }
  [[nodiscard]] std::vector<std::uint8_t> decode_codes(const std::string& name) const {
    const Image read = image(name);
    const auto codes = std::get<Array<std::uint8_t, 3>>(read.pixels).host();
    return {codes.begin(), codes.end()};
  }
};

}  // namespace holotone::test

#include <cmath>
#include <cstring>
#include <holotone/core/error.hpp>
#include <holotone/io/images/image.hpp>
#include <string>
#include <tests/io/tiff_bytes.hpp>
#include <tests/support/io_support.hpp>
#include <vector>

namespace holotone {
namespace {

using io_fixtures::tiff_of;
using io_support::TemporaryFolder;
using io_support::write_raw;

Image read_tif(const std::string& bytes) {
  const TemporaryFolder folder;
  write_raw(folder.file("x.tif"), bytes);
  return read_image(folder.file("x.tif"));
}

bool has_tiff() {
  try {
    read_tif(tiff_of(1, 1, 1, 8, false, -1, "a"));
  } catch (const Error& error) {
    return error.code() != ErrorCode::unsupported;
  }
  return true;
}

std::string numbers(const std::vector<int>& values, int bytes) {
  std::string result;
  for (const int value : values) io_fixtures::append(result, static_cast<std::uint32_t>(value), bytes);
  return result;
}

std::string floats(const std::vector<float>& values) {
  std::string result(4 * values.size(), '\0');
  std::memcpy(result.data(), values.data(), result.size());
  return result;
}

template <class T>
std::vector<double> list_values(const Image& image) {
  const auto pixels = std::get<Array<T, 3>>(image.pixels).host();
  return {pixels.begin(), pixels.end()};
}

/// Light on black of an sRGB code from 0 to 1 (IEC 61966-2-1).
double to_light(double code) { return code <= 0.04045 ? code / 12.92 : std::pow((code + 0.055) / 1.055, 2.4); }

TEST(ImageAlpha, AssociatedAlphaIsDividedOut) {
  if (!has_tiff()) GTEST_SKIP() << "built without libtiff";
  const std::vector<int> stored = {100, 50, 25, 128, 10, 20, 30, 0, 200, 210, 220, 255, 90, 40, 7, 80};
  const std::string pixels = numbers(stored, 1);
  // 255 c / alpha, rounded; colours above alpha do not exist and become 255.
  EXPECT_EQ(list_values<std::uint8_t>(read_tif(tiff_of(4, 1, 4, 8, false, 1, pixels))),
            (std::vector<double>{199, 100, 50, 128, 0, 0, 0, 0, 200, 210, 220, 255, 255, 128, 22, 80}));
  EXPECT_EQ(list_values<std::uint8_t>(read_tif(tiff_of(4, 1, 4, 8, false, 2, pixels))),
            (std::vector<double>(stored.begin(), stored.end())));
  EXPECT_EQ(list_values<std::uint16_t>(read_tif(tiff_of(2, 1, 2, 16, false, 1, numbers({1000, 40000, 5, 0}, 2)))),
            (std::vector<double>{1638, 40000, 0, 0}));
  EXPECT_EQ(list_values<float>(read_tif(tiff_of(3, 1, 2, 32, true, 1, floats({0.25F, 0.5F, 3, 0, -1, 1})))),
            (std::vector<double>{0.5, 0.5, 0, 0, -1, 1}));
}

TEST(ImageAlpha, BothKindsOfTiffAreTheSameLight) {
  if (!has_tiff()) GTEST_SKIP() << "built without libtiff";
  const double code = 40000.0 / 65535;
  const double alpha = 30000.0 / 65535;
  const double expected = to_light(code) * alpha;
  const int multiplied = static_cast<int>(std::lround(65535 * code * alpha));
  for (const int kind : {1, 2}) {
    const auto light =
        to_linear(read_tif(tiff_of(1, 1, 2, 16, false, kind, numbers({kind == 1 ? multiplied : 40000, 30000}, 2))));
    EXPECT_NEAR(static_cast<double>(light(0, 0, 0) * light(0, 0, 1)), expected, 2e-5) << kind;
  }
}

TEST(ImageAlpha, AnUnspecifiedSampleIsNamed) {
  if (!has_tiff()) GTEST_SKIP() << "built without libtiff";
  for (const int extra : {0, -1}) {
    const Image image = read_tif(tiff_of(1, 1, 4, 8, false, extra, "abcd"));
    EXPECT_EQ(list_values<std::uint8_t>(image), (std::vector<double>{'a', 'b', 'c', 'd'}));
    ASSERT_EQ(image.notes.size(), 1U);
    EXPECT_NE(
        image.notes.front().find("x.tif: the meaning of sample 4 is unspecified (ExtraSamples 0): taken as alpha"),
        std::string::npos);
  }
  for (const int extra : {1, 2}) EXPECT_TRUE(read_tif(tiff_of(1, 1, 4, 8, false, extra, "abcd")).notes.empty());
  EXPECT_TRUE(read_tif(tiff_of(1, 1, 3, 8, false, -1, "abc")).notes.empty());
}

TEST(ImageAlpha, SurvivesMutations) {
  if (!has_tiff()) GTEST_SKIP() << "built without libtiff";
  const auto read = [](const std::string& path) { read_image(path); };
  const std::string colours(4 * 6 * 5, 'k');
  io_support::expect_survival("associated.tif", tiff_of(6, 5, 4, 8, false, 1, colours), "associated.tif", 2000, read);
  io_support::expect_survival("floats.tif", tiff_of(3, 5, 2, 32, true, 1, colours), "floats.tif", 2000, read);
}

}  // namespace
}  // namespace holotone

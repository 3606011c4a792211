// Stereograms by rows of hogels on several devices: the bits of the whole panel, and what a stopped run leaves.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <holotone/io/fields/field_file.hpp>
#include <holotone/recipes/hogel_weights.hpp>
#include <holotone/recipes/stereogram_prints.hpp>
#include <string>
#include <tests/support/cancelling.hpp>
#include <tests/support/stereogram_support.hpp>
#include <utility>
#include <vector>

namespace holotone {
namespace {

namespace fs = std::filesystem;
using stereograms::Light;
using stereograms::SceneSource;
using support::expect_error;

constexpr Viewer viewer{4e-3, 3e-3, 0.03, 0.5e-3, 0};
constexpr FieldGrid grid{130, 106, 2e-6, 532e-9};
const StereogramOptions stereogram{
    .grid = grid, .hogel_px = 24, .viewer = viewer, .method = StereogramMethod::layered, .seed = 3};

const SceneSource source([](double x, double y, double slope_x, double slope_y) {
  const double wave = std::sin(40 * slope_x + 3e3 * x) * std::cos(31 * slope_y - 2e3 * y);
  return Light{wave > -0.6 ? 1.1 + wave : 0, 0.005 + 0.02 * std::abs(slope_y)};
});
const ViewSource& find_views(std::size_t /*device*/) { return source; }

/// A list of one: weights are not copied.
std::vector<StereogramPrint> make_list(StereogramPrint print) {
  std::vector<StereogramPrint> prints;
  prints.push_back(std::move(print));
  return prints;
}

class StereogramPrints : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(::testing::TempDir()) / ::testing::UnitTest::GetInstance()->current_test_info()->name();
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }
  [[nodiscard]] std::string path(const std::string& name) const { return (folder_ / name).string(); }
  [[nodiscard]] bool is_whole(const std::string& name, const Array<Complex, 2>& expected) const {
    const auto field = read_field(path(name));
    return std::equal(field.values.data(), field.values.data() + field.values.size(), expected.data());
  }

  fs::path folder_;
};

TEST_F(StereogramPrints, AFieldHasTheBitsOfTheWholePanel) {
  for (const Device device : devices()) {
    const auto whole = stereogram_field(source, 0, stereogram, device).to(Device{});
    for (const std::size_t count : {1, 3}) {
      SCOPED_TRACE(to_string(device) + " x " + std::to_string(count));
      const auto made =
          print_stereograms(find_views, make_list({.output = path("a.npy"), .stereogram = stereogram, .key = "waves"}),
                            {.devices = std::vector<Device>(count, device), .rows_at_once = 24});
      EXPECT_TRUE(is_whole("a.npy", whole));
      EXPECT_EQ(made[0].report.hogels, 30);
      EXPECT_EQ(made[0].info.hogels, (Shape<2>{5, 6}));
      EXPECT_EQ(made[0].rates.pixels, 130 * 106);
    }
  }
}

TEST_F(StereogramPrints, CodesAreThoseOfTheWholePanel) {
  WindowWeightOptions windows{.hogel_px = 24};
  windows.weights.rule = WeightRule::least_squares;
  const auto weights = window_weights(grid, viewer, windows).weights;
  const ErrorDiffusionOptions options{.hogel_px = 24, .scale = 1.5};
  for (const Device device : devices()) {
    if (device.backend == Backend::opencl) continue;  // has no error diffusion
    SCOPED_TRACE(to_string(device));
    const Queue queue(device);
    const auto field = stereogram_field(source, 0, stereogram, device);
    Array<std::uint8_t, 2> codes(grid.shape(), queue);
    ErrorDiffusionPlan(options, weights, grid.shape(), queue).execute(field.view(), codes.view());
    queue.synchronize();
    const auto expected = codes.to(Device{});
    StereogramPrint print{.output = path("a.npy"), .stereogram = stereogram};
    print.quantization = StereogramQuantization{options, window_weights(grid, viewer, windows).weights};
    (void)print_stereograms(find_views, make_list(std::move(print)), {.devices = {device, device}, .rows_at_once = 24});
    const auto bytes = fs::file_size(path("a.npy"));
    ASSERT_GT(bytes, static_cast<std::uintmax_t>(expected.size()));
    std::ifstream stream(path("a.npy"), std::ios::binary);
    stream.seekg(static_cast<std::streamoff>(bytes) - expected.size());
    std::vector<char> written(static_cast<std::size_t>(expected.size()));
    stream.read(written.data(), expected.size());
    EXPECT_TRUE(std::equal(written.begin(), written.end(), reinterpret_cast<const char*>(expected.data())));
  }
}

TEST_F(StereogramPrints, AStoppedRunIsResumedForTheSameViews) {
  const auto print = [&](const std::string& key) {
    return make_list({.output = path("a.npy"), .stereogram = stereogram, .key = key});
  };
  const auto stop = [&] {
    support::Cancelling cancelling(100);
    expect_error(ErrorCode::cancelled, "cancelled",
                 [&] { print_stereograms(find_views, print("waves"), {.rows_at_once = 24}, {}, cancelling); });
    EXPECT_FALSE(fs::exists(path("a.npy")));
  };
  stop();
  const auto resumed = print_stereograms(find_views, print("waves"), {.rows_at_once = 24});
  EXPECT_GE(resumed[0].resumed_rows, 48);
  EXPECT_LT(resumed[0].report.hogels, 30);
  EXPECT_TRUE(is_whole("a.npy", stereograms::whole_field(source, stereogram)));
  fs::remove(path("a.npy"));
  stop();
  EXPECT_EQ(print_stereograms(find_views, print("others"), {.rows_at_once = 24})[0].resumed_rows, 0);
}

TEST_F(StereogramPrints, BandsAreRowsOfHogels) {
  EXPECT_EQ(rows_of_hogel_bands(stereogram), 4032) << "4 MiB are 168 rows of 24 x 130 pixels";
  StereogramOptions wide = stereogram;
  wide.grid.nx = 1 << 20;
  EXPECT_EQ(rows_of_hogel_bands(wide), 24) << "at least one";
  expect_error(ErrorCode::invalid_argument, "rows_at_once: expected whole rows of hogels of 24 pixels, got 30", [&] {
    print_stereograms(find_views, make_list({.output = path("a.npy"), .stereogram = stereogram}), {.rows_at_once = 30});
  });
  expect_error(ErrorCode::invalid_argument, "prints", [&] { print_stereograms(find_views, {}); });
}

}  // namespace
}  // namespace holotone

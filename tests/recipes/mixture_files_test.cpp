// Models written and read in every format, and files that are none.
#include <fstream>
#include <gtest/gtest.h>
#include <holotone/core/error.hpp>
#include <holotone/io/npz_detail.hpp>
#include <holotone/recipes/mixture_files.hpp>
#include <tests/support/io_support.hpp>

namespace holotone {
namespace {

/// Two components of a light field, of numbers that float32 does not hold exactly.
SmoeModel model() {
  SmoeModel model;
  model.dimensions = 3;
  model.channels = 1;
  model.low = {0, 0, -1};
  model.high = {32, 24, 1};
  model.log_weight = {-0.1F, -2.3F};
  model.centre = {10.1F, 5.5F, 0.3F, 20.7F, 15.3F, -0.2F};
  for (int i = 0; i < 2; ++i) {
    model.covariance.insert(model.covariance.end(), {9.1F, 0.4F, 8.3F, 0.1F, 0.2F, 0.7F});
    model.colour.push_back(0.3F);
    model.slope.insert(model.slope.end(), {0.01F, -0.02F, 0.1F});
  }
  return model;
}

void expect_equal(const SmoeModel& a, const SmoeModel& b) {
  EXPECT_EQ(a.dimensions, b.dimensions);
  EXPECT_EQ(a.low, b.low);
  EXPECT_EQ(a.high, b.high);
  EXPECT_EQ(a.linear, b.linear);
  EXPECT_EQ(a.log_weight, b.log_weight);
  EXPECT_EQ(a.centre, b.centre);
  EXPECT_EQ(a.covariance, b.covariance);
  EXPECT_EQ(a.colour, b.colour);
  EXPECT_EQ(a.slope, b.slope);
}

class MixtureFilesTest : public testing::Test {
 protected:
  void refused(const std::string& name, ErrorCode code, const std::string& words) const {
    try {
      (void)read_mixture(folder_.file(name));
      ADD_FAILURE() << name;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), code);
      EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
    }
  }
  io_support::TemporaryFolder folder_;
};

TEST_F(MixtureFilesTest, EveryFormatKeepsEveryFloat) {
  SmoeModel linear = model();
  linear.linear = true;
  for (const auto& written : {model(), linear}) {
    for (const auto* name : {"a.smoe", "a.json", "a.NPZ"}) {
      const auto path = folder_.file(name);
      write_mixture(path, written);
      const auto file = read_mixture(path);
      expect_equal(file.model, written);
      EXPECT_EQ(file.bytes, static_cast<std::int64_t>(std::filesystem::file_size(path)));
      EXPECT_EQ(file.info.has_value(), path.ends_with("smoe"));
      EXPECT_TRUE(!file.info || file.info->lossless);
    }
  }
}

TEST_F(MixtureFilesTest, AFitIsWrittenAsItsBytes) {
  const SmoeSteps steps = smoe_steps(model(), 40);
  MixtureFit fit;
  fit.bytes = encode_smoe(model(), {false, steps});
  fit.model = decode_smoe(fit.bytes, "bytes");
  write_mixture(folder_.file("a.smoe"), fit);
  write_mixture(folder_.file("a.json"), fit);
  write_mixture(folder_.file("b.smoe"), model(), steps);
  EXPECT_EQ(read_mixture(folder_.file("a.smoe")).bytes, std::ssize(fit.bytes));
  expect_equal(read_mixture(folder_.file("a.smoe")).model, fit.model);
  expect_equal(read_mixture(folder_.file("a.json")).model, fit.model);
  expect_equal(read_mixture(folder_.file("b.smoe")).model, fit.model);
  EXPECT_FALSE(read_mixture(folder_.file("b.smoe")).info->lossless);
  EXPECT_THROW(write_mixture(folder_.file("c.smoe"), MixtureFit{}), Error);
}

TEST_F(MixtureFilesTest, OtherNamesAndDamagedFilesAreRefused) {
  EXPECT_FALSE(is_mixture_name("a.png"));
  refused("a.png", ErrorCode::invalid_argument, "read_mixture: path: expected a name ending in .smoe, .json or .npz");
  EXPECT_THROW(write_mixture(folder_.file("a.txt"), model()), Error);
  refused("none.json", ErrorCode::io, "none.json");
  std::ofstream(folder_.file("text.json")) << "{\n\"format\": x";
  refused("text.json", ErrorCode::io, "line 2, column 11");
  std::ofstream(folder_.file("other.json")) << "{\"format\": \"holotone smoe\", \"version\": 2}";
  refused("other.json", ErrorCode::io, "\"version\": 1");
  std::ofstream(folder_.file("a.npz")) << std::string(64, 'x');
  refused("a.npz", ErrorCode::io, "no ZIP archive");
  const io::NpzArray depth{"|u1", {2, 3}, std::string(6, 'x')};
  std::ofstream(folder_.file("b.npz")) << io::npz_bytes({{"depth", depth}, {"amplitude", depth}});
  refused("b.npz", ErrorCode::io, "got amplitude {2, 3}, depth {2, 3}");
}

}  // namespace
}  // namespace holotone

// What openPMD 1.1 states of a mesh: unitSI, axisLabels, dataOrder.
#include <cmath>
#include <gtest/gtest.h>
#include <holotone/io/fields/field_file.hpp>
#include <numbers>
#include <tests/io/field_builders.hpp>
#include <tests/io/hdf5_fixtures.hpp>
#include <tests/support/io_support.hpp>

namespace holotone {
namespace {

using io_support::error_of;
using io_support::TemporaryFolder;

// Written by h5py 3: datasets of 10 row + column in float32, {5, 3} or, of "first" and "fortran", {3, 5}.
const std::string openpmd = hdf5_fixtures::from_hex(
    "894844460d0a1a0a030808(9)ffffffffffffffff6809(6)30(7)b4af5c1d4f4844520200780212(4)ffffffffffffffffffffffffffffffff"
    "0a020001(2)1010(2)ef05(6)30(7)1010(2)2b07(6)31(7)0612(2)010007666f727472616ecb02(6)0612(2)01000775707269676874d703"
    "(7)04(6)b7deb9084f484452020100010124(2)0202010105(7)03(7)05(7)03(7)0314000111201f0004(5)2000170800177f(3)050200010"
    "30a0812(2)03010008(6)3c(7)15120004(2)ffffffffffffffffffffffffffffffff0c30(2)03000700140004(2)756e697453490011203f0"
    "008(5)4000340b0034ff03(2)02(3)182d4454fb2119400c32(2)03000b00080014(2)617869734c6162656c73001301(2)01(3)0201010102"
    "(7)02(7)79780020(34)a2b44d804f484452020100010124(2)0202010103(7)05(7)03(7)05(7)0314000111201f0004(5)2000170800177f"
    "(3)05020001030a0812(2)03013c08(6)3c(7)15120004(2)ffffffffffffffffffffffffffffffff0c32(2)03000b00080014(2)617869734"
    "c6162656c73001301(2)01(3)0201010102(7)02(7)78790c20(2)03000a00080004(2)646174614f72646572001301(2)01(3)02(3)430030"
    "(50)ef7412da4f484452020100010124(2)0202010103(7)05(7)03(7)05(7)0314000111201f0004(5)2000170800177f(3)05020001030a0"
    "812(2)03017808(6)3c(7)15120004(2)ffffffffffffffffffffffffffffffff0c32(2)03000b00080014(2)617869734c6162656c7300130"
    "1(2)01(3)0201010102(7)02(7)79780c20(2)03000a00080004(2)646174614f72646572001301(2)01(3)02(3)460030(50)973f57884f48"
    "4452020100010124(2)0202010105(7)03(7)05(7)03(7)0314000111201f0004(5)2000170800177f(3)05020001030a0812(2)0301b408(6"
    ")3c(7)15120004(2)ffffffffffffffffffffffffffffffff0c32(2)03000b00080014(2)617869734c6162656c73001301(2)01(3)0201010"
    "102(7)02(7)78790c20(2)03000a00080004(2)646174614f72646572001301(2)01(3)02(3)460030(50)303b2d414f484452020100010124"
    "(2)0202010105(7)03(7)05(7)03(7)0314000111201f0004(5)2000170800177f(3)05020001030a0812(2)0301f008(6)3c(7)15120004(2"
    ")ffffffffffffffffffffffffffffffff0c2f(2)03000600140004(2)7363616c650011203f0008(5)4000340b0034ff03(2)02(10)400057("
    "89)81f906b54f43484b0610(2)0100057475726e73b3(7)0610(2)0100057363616c65e304(6)374cbfb34f484452020100010124(2)020201"
    "0105(7)03(7)05(7)03(7)0314000111201f0004(5)2000170800177f(3)05020001030a0812(2)03012c09(6)3c(7)15120004(2)ffffffff"
    "ffffffffffffffffffffffff0c38(2)03000f00140004(2)7363616c696e675f666163746f720011203f0008(5)4000340b0034ff03(2)02(9"
    ")0840004e(80)1b459ea14f43484b0610(2)0100056669727374bf01(6)0611(2)010006666163746f721f06(6)70bd8434(170)803f(3)40("
    "2)2041(2)3041(2)4041(2)a041(2)a841(2)b041(2)f041(2)f841(3)42(2)2042(2)2442(2)2842(6)2041(2)a041(2)f041(2)2042(2)80"
    "3f(2)3041(2)a841(2)f841(2)2442(3)40(2)4041(2)b041(3)42(2)2842(6)2041(2)a041(2)f041(2)2042(2)803f(2)3041(2)a841(2)f"
    "841(2)2442(3)40(2)4041(2)b041(3)42(2)2842(6)803f(3)40(2)2041(2)3041(2)4041(2)a041(2)a841(2)b041(2)f041(2)f841(3)42"
    "(2)2042(2)2442(2)2842(6)803f(3)40(2)2041(2)3041(2)4041(2)a041(2)a841(2)b041(2)f041(2)f841(3)42(2)2042(2)2442(2)284"
    "2(6)803f(3)40(2)2041(2)3041(2)4041(2)a041(2)a841(2)b041(2)f041(2)f841(3)42(2)2042(2)2442(2)2842");

class OpenPmd : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!field_builders::has_hdf5()) GTEST_SKIP() << "built without HDF5";
    io_support::write_raw(path_, openpmd);
  }
  [[nodiscard]] FieldFile read(const std::string& name, FieldContent content = FieldContent::field) const {
    return read_field(path_ + ":" + name, {.read = content});
  }

  TemporaryFolder folder_;
  std::string path_ = folder_.file("o.h5");
};

TEST_F(OpenPmd, UnitSiIsAFactor) {
  const FieldFile turns = read("turns", FieldContent::phase);
  ASSERT_EQ(turns.values.shape(), (Shape<2>{5, 3}));
  for (std::int64_t i = 0; i < 15; ++i) {
    const auto value = static_cast<std::complex<double>>(turns.values.data()[i]);
    EXPECT_NEAR(std::abs(value - std::polar(1.0, 2 * std::numbers::pi * static_cast<double>(10 * (i / 3) + i % 3))), 0,
                1e-6);
  }
  EXPECT_TRUE(turns.metadata.empty());
  EXPECT_MENTIONS(turns.notes.front(), "/turns is read times 6.28319 plus 0 (scale_factor or unitSI, add_offset)");
}

TEST_F(OpenPmd, AxisLabelsSayWhichAreRows) {
  const auto expect_upright = [this](const std::string& name) {
    const FieldFile field = read(name);
    EXPECT_EQ(field.values.shape(), (Shape<2>{5, 3})) << name;
    for (std::int64_t i = 0; i < 15; ++i) {
      EXPECT_EQ(field.values.data()[i], std::complex(static_cast<float>(10 * (i / 3) + i % 3))) << name << i;
    }
    EXPECT_TRUE(field.metadata.empty());
    return field.notes;
  };
  EXPECT_MENTIONS(expect_upright("first").back(), "dimensions named 'x', 'y': /first is read as 5 x 3");
  EXPECT_MENTIONS(expect_upright("fortran").back(), "dimensions named 'x', 'y': /fortran is read as 5 x 3");
  EXPECT_TRUE(expect_upright("upright").empty());
}

TEST_F(OpenPmd, FactorsOfOtherNamesAreRefused) {
  EXPECT_MENTIONS(error_of([this] { (void)read("scale"); }),
                  "scale_factor or unitSI as the numbers' factor, got scale 2");
  EXPECT_MENTIONS(error_of([this] { (void)read("factor"); }),
                  "scale_factor or unitSI as the numbers' factor, got scaling_factor 3");
}

TEST_F(OpenPmd, SurvivesMutations) {
  const auto read = [](const std::string& path) { (void)read_field(path + ":first", {.read = FieldContent::field}); };
  io_support::expect_survival("o.h5", openpmd, "o.h5", 2000, read);
}

}  // namespace
}  // namespace holotone

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
    "894844460d0a1a0a020808(9)ffffffffffffffff3918(6)30(7)9361e5b54f4844520200780212(4)9b12(6)8207(6)0a020001(3)58(90)6"
    "a0e533b4f484452020100010124(2)0202010105(7)03(7)05(7)03(7)0314000111201f0004(5)2000170800177f(3)05020001030a0812(2"
    ")03010008(6)3c(7)15120004(2)ffffffffffffffffffffffffffffffff0c30(2)03000700140004(2)756e697453490011203f0008(5)400"
    "0340b0034ff03(2)02(3)182d4454fb2119400c32(2)03000b00080014(2)617869734c6162656c73001301(2)01(3)0201010102(7)02(7)7"
    "9780020(34)a2b44d804f484452020100010124(2)0202010103(7)05(7)03(7)05(7)0314000111201f0004(5)2000170800177f(3)050200"
    "01030a0812(2)03013c08(6)3c(7)15120004(2)ffffffffffffffffffffffffffffffff0c32(2)03000b00080014(2)617869734c6162656c"
    "73001301(2)01(3)0201010102(7)02(7)78790c20(2)03000a00080004(2)646174614f72646572001301(2)01(3)02(3)430030(50)ef741"
    "2da4f484452020100010124(2)0202010103(7)05(7)03(7)05(7)0314000111201f0004(5)2000170800177f(3)05020001030a0812(2)030"
    "17808(6)3c(7)15120004(2)ffffffffffffffffffffffffffffffff0c32(2)03000b00080014(2)617869734c6162656c73001301(2)01(3)"
    "0201010102(7)02(7)79780c20(2)03000a00080004(2)646174614f72646572001301(2)01(3)02(3)460030(50)973f57884f48445202010"
    "0010124(2)0202010105(7)03(7)05(7)03(7)0314000111201f0004(5)2000170800177f(3)05020001030a0812(2)0301b408(6)3c(7)151"
    "20004(2)ffffffffffffffffffffffffffffffff0c32(2)03000b00080014(2)617869734c6162656c73001301(2)01(3)0201010102(7)02("
    "7)78790c20(2)03000a00080004(2)646174614f72646572001301(2)01(3)02(3)460030(50)303b2d414f484452020100010124(2)020201"
    "0105(7)03(7)05(7)03(7)0314000111201f0004(5)2000170800177f(3)05020001030a0812(2)0301f008(6)3c(7)15120004(2)ffffffff"
    "ffffffffffffffffffffffff0c2f(2)03000600140004(2)7363616c650011203f0008(5)4000340b0034ff03(2)02(10)400057(89)81f906"
    "b54653534500a807(6)015c0100a4(4)38d70d66(22)4f484452020100010124(2)0202010105(7)03(7)05(7)03(7)0314000111201f0004("
    "5)2000170800177f(3)05020001030a0812(2)03012c09(6)3c(7)15120004(2)ffffffffffffffffffffffffffffffff0c38(2)03000f0014"
    "0004(2)7363616c696e675f666163746f720011203f0008(5)4000340b0034ff03(2)02(9)0840004e(80)1b459ea1(87)4254484400050002"
    "(2)0b(3)64282d13(6)090009(7)d094d57446534844(2)5c01(6)01(7)01(15)04005000780020(3)01(5)ef05(6)1a(7)1a(7)ca19662c(1"
    "2)803f(3)40(2)2041(2)3041(2)4041(2)a041(2)a841(2)b041(2)f041(2)f841(3)42(2)2042(2)2442(2)2842(6)2041(2)a041(2)f041"
    "(2)2042(2)803f(2)3041(2)a841(2)f841(2)2442(3)40(2)4041(2)b041(3)42(2)2842(6)2041(2)a041(2)f041(2)2042(2)803f(2)304"
    "1(2)a841(2)f841(2)2442(3)40(2)4041(2)b041(3)42(2)2842(6)803f(3)40(2)2041(2)3041(2)4041(2)a041(2)a841(2)b041(2)f041"
    "(2)f841(3)42(2)2042(2)2442(2)2842(6)803f(3)40(2)2041(2)3041(2)4041(2)a041(2)a841(2)b041(2)f041(2)f841(3)42(2)2042("
    "2)2442(2)2842(6)803f(3)40(2)2041(2)3041(2)4041(2)a041(2)a841(2)b041(2)f041(2)f841(3)42(2)2042(2)2442(2)2842(23)204"
    "1(2)a041(2)f041(2)2042(2)803f(2)3041(2)a841(2)f841(2)2442(3)40(2)4041(2)b041(3)42(2)2842(1611)4f484452020100010124"
    "(2)0202010101(7)02(7)01(7)02(7)032e00013602(2)06(3)78(2)11201f0004(5)2000170800177f(3)7900041008(2)02(5)1000050200"
    "01030a0812(2)03016809(6)0c(8)86(136)d99223e24f484452020100010124(2)0202010101(7)01(7)01(7)01(7)035300013605(2)05(3"
    ")61(2)10(3)01(5)080062000110(3)01(5)080063000210(3)01(5)080064000310(3)01(5)080065000410(3)01(5)080005020001030a08"
    "12(2)03017409(6)05(8)61(99)3d379ba64f4844520200780212(4)ffffffffffffffffffffffffffffffff0a020001(2)15120004(2)ffff"
    "ffffffffffffffffffffffffffff0c32(2)03000b00080014(2)617869734c6162656c73001301(2)01(3)0201010102(7)02(7)7879060c(2"
    ")0100017a2d15(6)68c17ba2465248500007(3)020010(10)ffffffffffffffff5c01(6)a807(7)02(7)02(14)09(39)04(2)02(8)01(5)200"
    "001003916(8)203b064d42544c460005bd057a4c0089(3)0f00f01b9f54007a(3)0f009cb731730069(3)110064801c7f0015(3)100082dff4"
    "990025(3)100085c0aec20035(3)120002dd79ed0047(3)120020a942f20098(3)0c0074e8a0fd0059(3)10007e412d2f(403)4f4844520201"
    "00010124(2)0202010103(7)05(7)03(7)05(7)0314000111201f0004(5)2000170800177f(3)05020001030a0812(2)03017909(6)3c(8)a0"
    "(162)c43b043a46484442009b12(10)7d52ff0b0100057475726e73b3(7)0100056669727374bf01(6)010007666f727472616ecb02(6)0100"
    "0775707269676874d703(6)0100057363616c65e304(6)010006666163746f721f06(6)010004706169720010(6)010004666976650c11(6)0"
    "10001451812(354)");

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

TEST_F(OpenPmd, MembersOfCompoundsAreNamed) {
  EXPECT_MENTIONS(error_of([this] { (void)read("pair"); }),
                  "expected an array of numbers, got /pair, which is {1, 2} compound of x float32, y int16");
  EXPECT_MENTIONS(error_of([this] { (void)read("five"); }),
                  "which is {1, 1} compound of a uint8, b uint8, c uint8, d uint8 and 1 more");
}

TEST_F(OpenPmd, SurvivesMutations) {
  const auto read = [](const std::string& path) { (void)read_field(path + ":first", {.read = FieldContent::field}); };
  io_support::expect_survival("o.h5", openpmd, "o.h5", 2000, read);
}

}  // namespace
}  // namespace holotone

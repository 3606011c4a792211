// What openPMD 1.1, NeXus and ilastik state of a mesh: unitSI, axes, steps of the grid.
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
    "894844460d0a1a0a020808(9)ffffffffffffffff4e21(6)30(7)9901816f4f4844520200780212(4)9b12(6)8207(6)0a020001(3)58(90)6"
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
    "b54653534500a807(6)01eb(2)1501(3)b7098978(22)4f484452020100010124(2)0202010105(7)03(7)05(7)03(7)0314000111201f0004"
    "(5)2000170800177f(3)05020001030a0812(2)03012c09(6)3c(7)15120004(2)ffffffffffffffffffffffffffffffff0c38(2)03000f001"
    "40004(2)7363616c696e675f666163746f720011203f0008(5)4000340b0034ff03(2)02(9)0840004e(80)1b459ea14f43484b0c2c(2)0300"
    "0500080014(2)61786573001301(2)01(3)0201010102(7)02(7)7879060f(2)010004646174612d15(6)a655428a(12)4254484400050002("
    "2)0b(3)64282d13(6)100010(7)4f7e0ec146534844(2)eb(7)01(7)01(15)04005000780020(3)01(5)ef05(6)1a(7)1a(7)9711c8ad(12)8"
    "03f(3)40(2)2041(2)3041(2)4041(2)a041(2)a841(2)b041(2)f041(2)f841(3)42(2)2042(2)2442(2)2842(6)2041(2)a041(2)f041(2)"
    "2042(2)803f(2)3041(2)a841(2)f841(2)2442(3)40(2)4041(2)b041(3)42(2)2842(6)2041(2)a041(2)f041(2)2042(2)803f(2)3041(2"
    ")a841(2)f841(2)2442(3)40(2)4041(2)b041(3)42(2)2842(6)803f(3)40(2)2041(2)3041(2)4041(2)a041(2)a841(2)b041(2)f041(2)"
    "f841(3)42(2)2042(2)2442(2)2842(6)803f(3)40(2)2041(2)3041(2)4041(2)a041(2)a841(2)b041(2)f041(2)f841(3)42(2)2042(2)2"
    "442(2)2842(6)803f(3)40(2)2041(2)3041(2)4041(2)a041(2)a841(2)b041(2)f041(2)f841(3)42(2)2042(2)2442(2)2842(23)2041(2"
    ")a041(2)f041(2)2042(2)803f(2)3041(2)a841(2)f841(2)2442(3)40(2)4041(2)b041(3)42(2)2842(6)803f(3)40(2)2041(2)3041(2)"
    "4041(2)a041(2)a841(2)b041(2)f041(2)f841(3)42(2)2042(2)2442(2)2842(6)2041(2)a041(2)f041(2)2042(2)803f(2)3041(2)a841"
    "(2)f841(2)2442(3)40(2)4041(2)b041(3)42(2)2842(6)803f(3)40(2)2041(2)3041(2)4041(2)a041(2)a841(2)b041(2)f041(2)f841("
    "3)42(2)2042(2)2442(2)2842(6)803f(3)40(2)2041(2)3041(2)4041(2)a041(2)a841(2)b041(2)f041(2)f841(3)42(2)2042(2)2442(2"
    ")2842(6)803f(3)40(2)2041(2)3041(2)4041(2)a041(2)a841(2)b041(2)f041(2)f841(3)42(2)2042(2)2442(2)2842(6)803f(3)40(2)"
    "2041(2)3041(2)4041(2)a041(2)a841(2)b041(2)f041(2)f841(3)42(2)2042(2)2442(2)2842(6)803f(3)40(2)2041(2)3041(2)4041(2"
    ")a041(2)a841(2)b041(2)f041(2)f841(3)42(2)2042(2)2442(2)2842(6)2041(2)a041(2)f041(2)2042(2)803f(2)3041(2)a841(2)f84"
    "1(2)2442(3)40(2)4041(2)b041(3)42(2)2842(1131)4f484452020100010124(2)0202010101(7)02(7)01(7)02(7)032e00013602(2)06("
    "3)78(2)11201f0004(5)2000170800177f(3)7900041008(2)02(5)100005020001030a0812(2)03016809(6)0c(8)86(136)d99223e24f484"
    "452020100010124(2)0202010101(7)01(7)01(7)01(7)035300013605(2)05(3)61(2)10(3)01(5)080062000110(3)01(5)080063000210("
    "3)01(5)080064000310(3)01(5)080065000410(3)01(5)080005020001030a0812(2)03017409(6)05(8)61(99)3d379ba64f484452020078"
    "1010(2)4517(6)32(7)0a020001(2)15120004(2)ffffffffffffffffffffffffffffffff0c20(2)03000700080004(2)7369676e616c00130"
    "1(2)04(3)02(3)646174611010(2)2b07(6)4b(8)0c(14)ee95bff5465248500007(3)020010(10)ffffffffffffffffeb(7)a807(7)02(7)0"
    "2(14)10(39)04(2)02(8)01(5)200001004e1f(8)9a9a266f42544c460005c5b5190100e9(3)1000bd057a4c0089(3)0f008f7e695400a4(3)"
    "0f00ee5e905400c4(3)1400f01b9f54007a(3)0f004fcc7a6100b3(3)11009cb731730069(3)110064801c7f0015(3)100016a2a1810098(3)"
    "0c0082dff4990025(3)100085c0aec20035(3)12(2)4dafd500d8(3)1100d021c0e900f9(3)100002dd79ed0047(3)120020a942f2000901(2"
    ")0c0074e8a0fd0059(3)100050fc3b18(326)4f484452020100010124(2)0202010103(7)05(7)03(7)05(7)0314000111201f0004(5)20001"
    "70800177f(3)05020001030a0812(2)03017909(6)3c(8)a0(162)c43b043a4f484452020100010124(2)0202010105(7)03(7)05(7)03(7)0"
    "314000111201f0004(5)2000170800177f(3)05020001030a0812(2)0301b509(6)3c(8)a0(162)ec0985924f43484b0212(4)ffffffffffff"
    "ffffffffffffffffffff0610(2)0100056f746865723916(6)85bba9074f484452020100010124(2)0202010103(7)05(7)03(7)05(7)03140"
    "00111201f0004(5)2000170800177f(3)05020001030a0812(2)0301f109(6)3c(7)15120004(2)ffffffffffffffffffffffffffffffff0c5"
    "4(2)03000900080004(2)6178697374616773001301(2)36(3)02(3)7b2261786573223a205b7b226b6579223a202278222c20227479706546"
    "6c616773223a20327d2c207b226b6579223a202279227d5d7d0032(52)09bb92424f484452020100010124(2)0202010105(7)03(7)05(7)03"
    "(7)0314000111201f0004(5)2000170800177f(3)05020001030a0812(2)03012d0a(6)3c(7)15120004(2)fffffffffffffffffffffffffff"
    "fffff0c30(2)03000700140004(2)6f66667365740011203f0008(5)4000340b0034ff03(2)02(10)400056(88)712ba1c74f4844520201000"
    "10124(2)0202010105(7)03(7)05(7)03(7)0314000111201f0004(5)2000170800177f(3)05020001030a0812(2)0301690a(6)3c(8)a0(16"
    "2)b321ed0f4f484452020100010124(2)0202010105(7)03(7)05(7)03(7)0314000111201f0004(5)2000170800177f(3)05020001030a081"
    "2(2)0301a50a(6)3c(7)15120004(2)ffffffffffffffffffffffffffffffff0c23(2)03000b00080004(2)70686173655f756e6974001301("
    "2)03(3)02(3)6465670063(101)3a2e64b24f484452020100010124(2)0202010105(7)03(7)05(7)03(7)0314000111201f0004(5)2000170"
    "800177f(3)05020001030a0812(2)0301e10a(6)3c(7)15120004(2)ffffffffffffffffffffffffffffffff0c4d(2)03000c00140014(2)67"
    "72696453706163696e670011203f0008(5)4000340b0034ff03(2)0201010102(7)02(13)1040(6)10400c34(2)03000b00140004(2)677269"
    "64556e697453490011203f0008(5)4000340b0034ff03(2)02(3)8dedb5a0f7c6b03e0001(3)dc9102334f484452020100010124(2)0202010"
    "105(7)03(7)05(7)03(7)0314000111201f0004(5)2000170800177f(3)05020001030a0812(2)03011d0b(6)3c(7)15120004(2)fffffffff"
    "fffffffffffffffffffffff0c59(2)03001000140014(2)656c656d656e745f73697a655f756d0011203f0008(5)4000340b0034ff03(2)020"
    "1010103(7)03(13)f03f(6)1040(6)2040002d(47)70e2ca6f4f4844520200780212(4)ffffffffffffffffffffffffffffffff0a020001(2)"
    "15120004(2)ffffffffffffffffffffffffffffffff0c32(2)03000b00080014(2)617869734c6162656c73001301(2)01(3)0201010102(7)"
    "02(7)7879060c(2)0100017a421e(6)625b998c4f484452020100010124(2)0202010103(7)05(7)03(7)05(7)0314000111201f0004(5)200"
    "0170800177f(3)05020001030a0812(2)0301590b(6)3c(8)a0(162)afa531a546484442009b12(10)f66b56bf0100057475726e73b3(7)010"
    "0056669727374bf01(6)010007666f727472616ecb02(6)01000775707269676874d703(6)0100057363616c65e304(6)010006666163746f7"
    "21f06(6)010004706169720010(6)010004666976650c11(6)0100014e1812(6)010004746167737717(6)0100066f66667365748318(6)010"
    "00970686173655f6465678f19(6)0100067374617465649b1a(6)0100057069746368a71b(6)0100057369646573b31c(6)01000145bf1d(24"
    "1)");

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
  // Of the record or group around the dataset, and of ilastik.
  EXPECT_MENTIONS(expect_upright("/E/z").back(), "dimensions named 'x', 'y': /E/z is read as 5 x 3");
  EXPECT_MENTIONS(expect_upright("/N/data").back(), "dimensions named 'x', 'y': /N/data is read as 5 x 3");
  EXPECT_TRUE(expect_upright("/N/other").empty());
}

TEST_F(OpenPmd, NamesAndAttributesStateUnitsOfPhases) {
  for (const std::string name : {"phase_deg", "stated"}) {
    const FieldFile field = read(name, FieldContent::phase);
    const double degree = std::numbers::pi / 180;
    EXPECT_NEAR(std::abs(static_cast<std::complex<double>>(field.values(4, 2)) - std::polar(1.0, 42 * degree)), 0,
                1e-6);
    EXPECT_MENTIONS(field.notes.back(), "phases in deg, as the file states");
  }
  const std::string path = folder_.file("phase_deg.npy");
  io_support::write_raw(path, field_builders::npy_field("<f8", false, 2, 2));
  EXPECT_NEAR(std::arg(read_field(path, {.read = FieldContent::phase}).values(1, 1)), 11 * std::numbers::pi / 180,
              1e-6);
  const std::string other = folder_.file("phase_45_deg.npy");  // at 45 degrees
  io_support::write_raw(other, field_builders::npy_field("<f8", false, 2, 2));
  EXPECT_NEAR(std::arg(read_field(other, {.read = FieldContent::phase}).values(0, 1)), 1, 1e-6);
}

TEST_F(OpenPmd, AxistagsSayWhichAreRows) {
  const FieldFile field = read("tags");
  EXPECT_EQ(field.values.shape(), (Shape<2>{5, 3}));
  EXPECT_EQ(field.values(4, 1), std::complex(41.0F));
  EXPECT_MENTIONS(field.notes.back(), "dimensions named 'x', 'y': /tags is read as 5 x 3");
}

TEST_F(OpenPmd, StepsOfTheGridAreThePitch) {
  EXPECT_EQ(read("pitch").metadata.at("pitch_m"), "4e-06");
  const FieldFile sides = read("sides");
  EXPECT_EQ(sides.metadata.count("pitch_m"), 0U);
  EXPECT_MENTIONS(sides.notes.back(), "its pixels of 4 um x 8 um (height x width) are not square: taken as square");
}

TEST_F(OpenPmd, FactorsOfOtherNamesAreRefused) {
  EXPECT_MENTIONS(error_of([this] { (void)read("scale"); }),
                  "scale_factor or unitSI as the numbers' factor, got scale 2");
  EXPECT_MENTIONS(error_of([this] { (void)read("factor"); }),
                  "scale_factor or unitSI as the numbers' factor, got scaling_factor 3");
  EXPECT_MENTIONS(error_of([this] { (void)read("offset"); }), "add_offset as the numbers' offset, got offset 2");
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

// What HDF5 files of programs and conventions declare of their numbers: written here by libhdf5.
#include <gtest/gtest.h>
#if HOLOTONE_HDF5
#include <cmath>
#include <fmt/format.h>
#include <functional>
#include <holotone/io/fields/field_file.hpp>
#include <holotone/io/fields/field_rows.hpp>
#include <holotone/io/guarded/guarded.hpp>
#include <tests/support/hdf5_writer.hpp>
#include <tests/support/io_support.hpp>
#include <tests/support/paths.hpp>

namespace holotone {
namespace {

using hdf5_support::Hdf5Object;
using io_support::error_of;
using io_support::TemporaryFolder;

constexpr Shape<2> shape{4, 6};

/// 10 row + column.
std::vector<double> make_values(std::int64_t rows, std::int64_t columns) {
  std::vector<double> values;
  for (std::int64_t i = 0; i < rows * columns; ++i)
    values.push_back(static_cast<double>(10 * (i / columns) + i % columns));
  return values;
}

class Hdf5Dialects : public testing::Test {
 protected:
  /// Writes a file with the dataset "u" of 10 row + column, and what `add` puts beside it.
  void write(const std::function<void(Hdf5Object& file, Hdf5Object& u)>& add, Shape<2> extents = shape,
             const std::string& name = "u") {
    auto file = Hdf5Object::create_file(path_);
    auto u = file.dataset(name, {extents[0], extents[1]}, make_values(extents[0], extents[1]));
    add(file, u);
  }
  [[nodiscard]] FieldFile read(FieldContent content = FieldContent::field) const {
    return read_field(path_, {.read = content});
  }
  [[nodiscard]] std::string refusal(FieldContent content = FieldContent::amplitude) const {
    return error_of([&] { (void)read_field(path_, {.read = content}); });
  }

  TemporaryFolder folder_;
  std::string path_ = folder_.file("d.h5");
};

TEST_F(Hdf5Dialects, LogarithmsAreNoLight) {
  for (const std::string unit :
       {"dB", "dBm", "DECIBELS", "log10", "20*log10(V)", "log", "ln(counts)", "Np", "dB re 1 mW"}) {
    for (const std::string key : {"units", "Unit"}) {
      write([&](auto&, auto& u) { u.text(key, unit); });
      for (const auto content : {FieldContent::amplitude, FieldContent::intensity, FieldContent::field}) {
        EXPECT_MENTIONS(refusal(content),
                        fmt::format("d.h5: expected numbers without dB or logarithm, got {} '{}'", key, unit));
      }
    }
  }
  // As a list of one, of fixed length, and of fixed length with blanks.
  for (const auto form : {hdf5_support::Text::list_of_one, hdf5_support::Text::fixed, hdf5_support::Text::blanks}) {
    write([&](auto&, auto& u) { u.text("units", "dB", form); });
    EXPECT_MENTIONS(refusal(), "got units 'dB'");
  }
  write([](auto&, auto& u) { u.text("long_name", "Amplitude (dB)"); });
  EXPECT_MENTIONS(refusal(), "got long_name 'Amplitude (dB)'");
  EXPECT_MENTIONS(error_of([&] { (void)read_field(path_, {.read = FieldContent::field, .imaginary_file = path_}); }),
                  "numbers without dB or logarithm");
  for (const std::string name : {"intensity_dB", "log_amplitude", "IntensityDB", "power-dBm"}) {
    write([](auto&, auto&) {}, shape, name);
    EXPECT_EQ(error_of([&] { (void)read_field(path_ + ":" + name, {.read = FieldContent::intensity}); }),
              fmt::format("{}:{}: expected numbers without dB or logarithm, got the name '{}'", path_, name, name));
  }
  for (const std::string unit : {"counts", "a.u.", "%", "V/m", "W/m^2", "dimensionless", "bits"}) {
    write([&](auto&, auto& u) { u.text("units", unit); });
    EXPECT_EQ(read(FieldContent::amplitude).values(3, 5), 35.0F) << unit;
  }
}

TEST_F(Hdf5Dialects, ComplexNumbersInDecibelsAreRefusedByBothReaders) {
  {
    auto file = Hdf5Object::create_file(path_);
    auto u = file.complex_dataset("u", {4, 6}, make_values(4, 6));
    u.text("units", "dB");
  }
  EXPECT_MENTIONS(error_of([&] { (void)read_field(path_); }),
                  "expected numbers without dB or logarithm, got units 'dB'");
  EXPECT_MENTIONS(error_of([&] { (void)FieldRowsReader(path_, guarded_program()); }), "got units 'dB'");
}

}  // namespace
}  // namespace holotone
#endif

// Light of a hologram file read back without the program: against the original field and closed forms in float64.
#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <holotone/core/random.hpp>
#include <holotone/hologram/fourier_filter.hpp>
#include <holotone/io/fields/field_file.hpp>
#include <holotone/io/images/image.hpp>
#include <holotone/io/npy_detail.hpp>
#include <holotone/optics/reference_beam.hpp>
#include <holotone/recipes/hologram_file.hpp>
#include <holotone/recipes/metadata_keys.hpp>
#include <holotone/recipes/phase_map.hpp>
#include <tests/support/io_support.hpp>
#include <tests/support/on_each_device.hpp>

namespace holotone {
namespace {

using support::Complex64;
using support::expect_error;
using support::expect_within;

constexpr FieldGrid grid{65, 48, 8e-6, 532e-9};

Array<Complex, 2> random_field(std::uint64_t seed) {
  Array<Complex, 2> field(grid.shape());
  for (std::int64_t i = 0; i < field.size(); ++i) {
    const auto at = static_cast<std::uint64_t>(i);
    const double modulus = 0.2 + random_uniform64(seed, 2 * at);
    field.data()[i] = Complex(std::polar(modulus, 2 * M_PI * random_uniform64(seed, 2 * at + 1)));
  }
  return field;
}

Metadata stated() {
  Metadata metadata;
  set_metadata(metadata, "pitch_m", grid.pitch_m);
  set_metadata(metadata, "wavelength_m", grid.wavelength_m);
  return metadata;
}

/// Writes the codes of a field to a picture with the encoding's metadata; returns the range of its codes.
EncodeReport write_codes(const std::string& path, const Array<Complex, 2>& field, const EncodeOptions& options) {
  EncodeReport report;
  const auto codes = encode(field.view(), options, grid, &report);
  const auto [ny, nx] = codes.shape();
  Image image;
  if (options.bits > 8) {
    Array<std::uint16_t, 3> pixels({ny, nx, 1});
    std::copy_n(codes.data(), codes.size(), pixels.data());
    image.pixels = std::move(pixels);
  } else {
    Array<std::uint8_t, 3> pixels({ny, nx, 1});
    std::transform(codes.data(), codes.data() + codes.size(), pixels.data(),
                   [](std::uint16_t code) { return static_cast<std::uint8_t>(code); });
    image.pixels = std::move(pixels);
  }
  image.metadata = stated();
  describe_encoding(image.metadata, options, report, false);
  write_image(path, image);
  return report;
}

std::vector<Complex64> float64(const Array<Complex, 2>& field) { return {field.data(), field.data() + field.size()}; }

TEST(HologramFile, AFieldComesBackBitForBit) {
  const io_support::TemporaryFolder folder;
  const std::string path = folder.file("field.npy");
  const auto field = random_field(1);
  write_field(path, {copy_of(field.view(), Device{}), {}});
  EXPECT_TRUE(is_hologram_field(path));
  const auto light = read_hologram(path, {.overrides = stated()});
  EXPECT_EQ(light.encoding, "complex");
  EXPECT_EQ(light.filter, "none");
  EXPECT_EQ(light.grid.shape(), grid.shape());
  EXPECT_EQ(light.grid.pitch_m, grid.pitch_m);
  EXPECT_EQ(light.grid.wavelength_m, grid.wavelength_m);
  EXPECT_TRUE(std::equal(field.data(), field.data() + field.size(), light.field.data()));
  const HologramRows file(path, {.overrides = stated()});
  Array<Complex, 2> rows({7, grid.nx});
  file.read(11, rows.view());
  EXPECT_TRUE(std::equal(rows.data(), rows.data() + rows.size(), field.data() + 11 * grid.nx));
}

// 16-bit phase codes contain the field's phase to half a step; 16-bit amplitudes contain its real part.
TEST(HologramFile, CodesComeBackAsTheFieldsLight) {
  const io_support::TemporaryFolder folder;
  const auto field = random_field(2);
  EncodeOptions options;
  options.bits = 16;
  write_codes(folder.file("phase.png"), field, options);
  const auto phase = read_hologram(folder.file("phase.png"));
  EXPECT_EQ(phase.encoding, "phase");
  double worst = 0;
  for (std::int64_t i = 0; i < field.size(); ++i) {
    const Complex64 value(field.data()[i]);
    worst = std::max(worst, std::abs(Complex64(phase.field.data()[i]) - value / std::abs(value)));
  }
  // Half a step, and float32's rounding of a turn in encoding and in modulation.
  expect_within("phase of 16 bits", worst, M_PI / 65536 + 2 * M_PI * 2.5e-7 + 3e-7);

  options.encoding = Encoding::amplitude;
  const auto report = write_codes(folder.file("amplitude.png"), field, options);
  const auto amplitude = read_hologram(folder.file("amplitude.png"));
  EXPECT_EQ(amplitude.encoding, "amplitude");
  worst = 0;
  for (std::int64_t i = 0; i < field.size(); ++i) {
    worst =
        std::max(worst, std::abs(Complex64(amplitude.field.data()[i]) - static_cast<double>(field.data()[i].real())));
  }
  const double range = static_cast<double>(report.amplitude_max) - static_cast<double>(report.amplitude_min);
  expect_within("amplitude of 16 bits", worst, range * (0.5 / 65535 + 3e-7));
}

// The file's metadata suffice for modulation_of and the stop, for every encoding.
TEST(HologramFile, EveryEncodingIsUndoneByWhatItsFileStates) {
  const io_support::TemporaryFolder folder;
  const auto field = random_field(3);
  for (const auto& [encoding, name] : enum_names<Encoding>) {
    SCOPED_TRACE(name);
    EncodeOptions options;
    options.encoding = encoding;
    if (needs_phase_modulator(encoding)) {
      options.carrier_x_rad = 0.004;
      options.phase_range_rad = 1.8 * M_PI;
    } else if (encoding_traits(encoding).encodes_beam) {
      options.reference_angle_x_rad = 0.01;
      options.reference_angle_y_rad = -0.007;
    }
    const std::string path = folder.file(fmt::format("{}.png", to_string(encoding)));
    const auto report = write_codes(path, field, options);
    const auto codes = encode(field.view(), options, grid);
    auto expected = modulation_of(codes.view(), options, grid, report);
    const bool stops = fourier_filter_name(encoding) != "none";
    if (stops) {
      const auto bare = read_hologram(path, {.unfiltered = true});
      EXPECT_EQ(bare.filter, "none");
      expect_within("unfiltered", support::relative_error(bare.field.data(), float64(expected)), 1e-7);
    }
    fourier_filter(expected.view(), options, grid);
    const auto light = read_hologram(path);
    EXPECT_EQ(light.encoding, to_string(encoding));
    EXPECT_EQ(light.filter, fourier_filter_name(encoding));
    expect_within("light", support::relative_error(light.field.data(), float64(expected)), 1e-7);

    const HologramRows file(path);
    Array<Complex, 2> rows(grid.shape());
    for (std::int64_t row = 0; row < grid.ny; row += 13) {
      const std::int64_t count = std::min<std::int64_t>(13, grid.ny - row);
      file.read(row, View<Complex, 2>(rows.data() + row * grid.nx, {count, grid.nx}));
    }
    EXPECT_TRUE(std::equal(rows.data(), rows.data() + rows.size(), light.field.data())) << "by rows";
  }
}

/// Rows of 8-bit codes with two levels of light in steps of their own.
TEST(HologramFile, RowsOfTabledLevelsAreThoseOfTheWholeFile) {
  const io_support::TemporaryFolder folder;
  for (const bool phase : {true, false}) {
    const std::string path = folder.file("levels.png");
    Array<std::uint8_t, 3> codes({grid.ny, grid.nx, 1});
    for (std::int64_t i = 0; i < codes.size(); ++i) codes.data()[i] = static_cast<std::uint8_t>(i * i % 3);
    Metadata metadata{{"pitch_m", "8e-6"}, {"wavelength_m", "5e-7"}, {"bits", "2"}};
    metadata["encoding"] = phase ? "phase" : "amplitude";
    metadata[phase ? "level_phase_rad" : "level_amplitude"] = phase ? "0,1.5,4,nan" : "0,0.3,1";
    if (!phase) metadata.insert({{"amplitude_min", "-1"}, {"amplitude_max", "1"}});
    const auto write = [&] { write_image(path, {codes.to(Device{}), metadata}); };
    write();
    const auto whole = read_hologram(path);
    Array<Complex, 2> rows({5, grid.nx});
    HologramRows(path).read(7, rows.view());
    EXPECT_TRUE(std::equal(rows.data(), rows.data() + rows.size(), whole.field.data() + 7 * grid.nx)) << phase;
    codes.data()[8 * grid.nx + 3] = 3;  // of two bits, but none of the three levels that are known
    write();
    EXPECT_THROW(HologramRows(path).read(7, rows.view()), Error) << phase;
    HologramRows(path).read(0, rows.view());
    codes.data()[8 * grid.nx + 3] = 4;
    write();
    expect_error(ErrorCode::io, path + ": expected codes of 2 bits, at most 3, got 4",
                 [&] { HologramRows(path).read(7, rows.view()); });
  }
}

// Phase codes of a field without the beam: the beam is the file's.
TEST(HologramFile, ABeamLightsPhaseCodesToo) {
  const io_support::TemporaryFolder folder;
  const auto field = random_field(6);
  write_codes(folder.file("plain.png"), field, {});
  auto file = read_image(folder.file("plain.png"));
  set_metadata(file.metadata, "reference_angle_x_rad", 0.011);
  set_metadata(file.metadata, "reference_angle_y_rad", -0.02);
  write_image(folder.file("lit.png"), file);
  auto expected = read_hologram(folder.file("plain.png"));
  add_beam({0.011, -0.02}, grid, 0, expected.field.view());
  const auto light = read_hologram(folder.file("lit.png"));
  expect_within("light", support::relative_error(light.field.data(), float64(expected.field)), 1e-7);
}

TEST(HologramFile, TheCorrectionIsTakenOut) {
  const io_support::TemporaryFolder folder;
  const auto field = random_field(4);
  Array<float, 3> map({grid.ny, grid.nx, 1});
  for (std::int64_t i = 0; i < map.size(); ++i) map.data()[i] = 6 * random_uniform(5, static_cast<std::uint64_t>(i));
  Image picture;
  picture.pixels = copy_of(map.view(), Device{});
  write_image(folder.file("map.tif"), picture);
  const auto read = read_correction(folder.file("map.tif"), grid.shape());
  ASSERT_TRUE(std::equal(read.data(), read.data() + read.size(), map.data()));
  EncodeOptions options;
  options.bits = 16;
  write_codes(folder.file("plain.png"), field, options);
  options.correction_rad = read.view();
  write_codes(folder.file("corrected.png"), field, options);
  const auto expected = read_hologram(folder.file("plain.png"));
  const HologramReadOptions with{.correction = folder.file("map.tif")};
  const auto light = read_hologram(folder.file("corrected.png"), with);
  // Half a step each.
  const double tolerance = 2 * M_PI / 65536;
  expect_within("at once", support::relative_error(light.field.data(), float64(expected.field)), tolerance);
  Array<Complex, 2> rows(grid.shape());
  HologramRows(folder.file("corrected.png"), with).read(0, rows.view());
  expect_within("by rows", support::relative_error(rows.data(), float64(expected.field)), tolerance);
  const auto left_in = read_hologram(folder.file("corrected.png"));
  EXPECT_GT(support::relative_error(left_in.field.data(), float64(expected.field)), 0.5);
  expect_error(ErrorCode::io, "map.tif: expected the panel's 64 x 48 pixels, got 65 x 48", [&] {
    (void)read_correction(folder.file("map.tif"), {48, 64});
  });
}

Image make_picture(const std::vector<std::uint8_t>& codes, std::int64_t channels) {
  Image image{Array<std::uint8_t, 3>({1, std::ssize(codes) / channels, channels}), stated()};
  std::ranges::copy(codes, std::get<Array<std::uint8_t, 3>>(image.pixels).data());
  return image;
}

TEST(HologramFile, CorrectionsAreGreyAndOpaque) {
  const io_support::TemporaryFolder folder;
  const auto path = folder.file("map.png");
  for (const auto& [codes, channels] : std::vector<std::pair<std::vector<std::uint8_t>, std::int64_t>>{
           {{64, 64, 64, 192, 192, 192}, 3}, {{64, 255, 192, 255}, 2}}) {
    write_image(path, make_picture(codes, channels));
    const auto map = read_correction(path, {1, 2});
    EXPECT_NEAR(static_cast<double>(map(0, 0)), M_PI / 2, 1e-6) << channels;
    EXPECT_NEAR(static_cast<double>(map(0, 1)), 3 * M_PI / 2, 1e-6) << channels;
  }
  write_image(path, make_picture({64, 0, 0, 192, 0, 0}, 3));
  expect_error(ErrorCode::io, "map.png: expected a grey picture of phases, got a coloured one", [&] {
    (void)read_correction(path, {1, 2});
  });
  write_image(path, make_picture({64, 255, 192, 128}, 2));
  expect_error(ErrorCode::io, "map.png: expected phases without transparency, got an alpha channel that is not opaque",
               [&] {
                 (void)read_correction(path, {1, 2});
               });
}

TEST(HologramFile, CorrectionsAreRadians) {
  const io_support::TemporaryFolder folder;
  const auto path = folder.file("map.npy");
  for (const std::string type : {"|u1", "<i2"}) {
    io_support::write_raw(path, io::npy_header(type, {1, 2}) + std::string("\x01\x00\x02\x00", type == "|u1" ? 2 : 4));
    expect_error(ErrorCode::io,
                 "map.npy: expected phases in radians as floating point numbers, got " + type + " numbers", [&] {
                   (void)read_correction(path, {1, 2});
                 });
  }
  const auto read_notes = [&](float high) {
    const std::array<float, 2> phases = {0, high};
    io_support::write_raw(
        path, io::npy_header("<f4", {1, 2}) + std::string(reinterpret_cast<const char*>(phases.data()), sizeof phases));
    std::vector<std::string> notes;
    const auto map = read_correction(path, {1, 2}, [&](const std::string& note) { notes.push_back(note); });
    EXPECT_EQ(map(0, 1), high);
    return notes;
  };
  EXPECT_EQ(read_notes(18.8F), std::vector<std::string>{});  // 6 pi is 18.85
  EXPECT_EQ(read_notes(359), std::vector{path + ": phases from 0 to 359, taken as radians"});
}

TEST(HologramFile, CorrectionsFollowTheUnitInTheirName) {
  const io_support::TemporaryFolder folder;
  const auto read_named = [&](const std::string& name, std::vector<std::string>& notes) {
    const std::array<float, 2> values = {0, 0.25F};
    io_support::write_raw(
        folder.file(name),
        io::npy_header("<f4", {1, 2}) + std::string(reinterpret_cast<const char*>(values.data()), sizeof values));
    return static_cast<double>(
        read_correction(folder.file(name), {1, 2}, [&](const std::string& note) { notes.push_back(note); })(0, 1));
  };
  for (const auto& [name, radians] : std::vector<std::pair<std::string, double>>{{"phase_waves.npy", M_PI / 2},
                                                                                 {"corr_waves.npy", M_PI / 2},
                                                                                 {"phase_pi.npy", M_PI / 4},
                                                                                 {"phase_deg.npy", M_PI / 720}}) {
    std::vector<std::string> notes;
    EXPECT_NEAR(read_named(name, notes), radians, 1e-7) << name;
    const auto at = name.find('_') + 1;
    EXPECT_EQ(notes, std::vector{folder.file(name) + ": phases in " + name.substr(at, name.find('.') - at) +
                                 ", as the file states"});
  }
  for (const std::string name : {"phase_rad.npy", "corr_1.npy", "waves.npy", "slm_2.npy"}) {
    std::vector<std::string> notes;
    EXPECT_EQ(read_named(name, notes), 0.25) << name;
    EXPECT_TRUE(notes.empty());
  }
  std::vector<std::string> notes;
  expect_error(
      ErrorCode::io,
      "opd_um.npy: expected phases in radians, or in deg, waves or pi as the name states, got a name of lengths, "
      "'opd_um'",
      [&] { (void)read_named("opd_um.npy", notes); });
  // Floats of a picture as well; codes are parts of a wave.
  Image picture{Array<float, 3>({1, 2, 1}), {}};
  std::ranges::fill(std::get<Array<float, 3>>(picture.pixels).host(), 0.5F);
  write_image(folder.file("phase_waves.tif"), picture);
  EXPECT_NEAR(static_cast<double>(read_correction(folder.file("phase_waves.tif"), {1, 2})(0, 1)), M_PI, 1e-6);
  for (const auto& [name, count] : {std::pair{"phase_waves.png", 0U}, {"phase_deg.png", 1U}}) {
    write_image(folder.file(name), make_picture({64, 192}, 1));
    notes.clear();
    const auto map =
        read_correction(folder.file(name), {1, 2}, [&](const std::string& note) { notes.push_back(note); });
    EXPECT_NEAR(static_cast<double>(map(0, 0)), M_PI / 2, 1e-6);
    EXPECT_EQ(notes.size(), count) << name;
  }
}

TEST(HologramFile, CorrectionsByJpegAreRefused) {
  const io_support::TemporaryFolder folder;
  const Image picture = make_picture({64, 64}, 1);
  for (const std::string name : {"map.jpg", "map.png"}) {
    io_support::write_raw(folder.file(name), jpeg_bytes(picture, 90));
    expect_error(ErrorCode::io,
                 name + ": expected a correction in PNG, TIFF or BMP without loss, got JPEG, which changes codes", [&] {
                   (void)read_correction(folder.file(name), {1, 2});
                 });
  }
}

TEST(HologramFile, CodesAreOpaqueAndWithoutLoss) {
  const io_support::TemporaryFolder folder;
  const auto png = folder.file("codes.png");
  write_image(png, make_picture({0, 255, 64, 255}, 2));
  EXPECT_NEAR(static_cast<double>(std::arg(read_hologram(png).field(0, 1))), M_PI / 2, 1e-3);
  write_image(png, make_picture({0, 255, 64, 254}, 2));
  expect_error(ErrorCode::io, "codes.png: expected modulator codes without transparency",
               [&] { (void)read_hologram(png); });
  const auto jpeg = folder.file("codes.jpg");
  io_support::write_raw(jpeg, jpeg_bytes(make_picture({0, 64}, 1), 100));
  HologramReadOptions options;
  options.overrides = stated();
  expect_error(ErrorCode::io, "codes.jpg: expected modulator codes in PNG, TIFF or BMP without loss, got JPEG",
               [&] { (void)read_hologram(jpeg, options); });
}

TEST(HologramFile, OverridesReplaceStateAndRemove) {
  const io_support::TemporaryFolder folder;
  const std::string path = folder.file("codes.png");
  const auto field = random_field(6);
  EncodeOptions options;
  options.level_phase_rad = {0, 1, 2.5, 4};
  options.bits = 2;
  write_codes(path, field, options);
  EXPECT_EQ(metadata_text(read_hologram(path).metadata, "level_phase_rad"), "0,1,2.5,4");
  HologramReadOptions with;
  with.overrides = {{"level_phase_rad", ""}, {"phase_range_rad", "3"}, {"wavelength_m", "633e-9"}};
  int calls = 0;
  with.adjust = [&](const StatedHologram& file) {
    ++calls;
    EXPECT_EQ(file.path, path);
    EXPECT_EQ(file.shape, grid.shape());
    EXPECT_EQ(file.pixel_bits, 8);
    EXPECT_FALSE(file.is_field);
    EXPECT_EQ(file.metadata.count("level_phase_rad"), 0u);
    file.metadata["pitch_m"] = "4e-6";
  };
  const auto light = read_hologram(path, with);
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(light.grid.wavelength_m, 633e-9);
  EXPECT_EQ(light.grid.pitch_m, 4e-6);
  const auto codes = encode(field.view(), options, grid);
  double worst = 0;
  for (std::int64_t i = 0; i < codes.size(); ++i) {
    const Complex64 expected = std::polar(1.0, 3 * static_cast<double>(codes.data()[i]) / 4);
    worst = std::max(worst, std::abs(Complex64(light.field.data()[i]) - expected));
  }
  expect_within("a stroke of 3 rad", worst, 2e-6);
}

TEST(HologramFile, ErrorsNameTheFileAndTheKey) {
  const io_support::TemporaryFolder folder;
  const std::string path = folder.file("codes.png");
  EncodeOptions options;
  write_codes(path, random_field(7), options);
  const auto refused = [&](ErrorCode code, const Metadata& overrides, const std::string& text) {
    const HologramReadOptions with{.overrides = overrides};
    expect_error(code, path + ": expected " + text, [&] { (void)read_hologram(path, with); });
    expect_error(code, path + ": expected " + text, [&] { HologramRows rows(path, with); });
  };
  refused(ErrorCode::io, {{"pitch_m", ""}}, "pitch_m from 1e-09 to 1, got none");
  refused(ErrorCode::io, {{"pitch_m", "8um"}}, "a number under pitch_m, got '8um'");
  refused(ErrorCode::io, {{"wavelength_m", "2"}}, "wavelength_m from 1e-08 to 0.001, got 2");
  refused(ErrorCode::io, {{"bits", "12"}}, "bits from 1 to the 8 of a pixel, got 12");
  refused(ErrorCode::io, {{"carrier_x_rad", "2"}}, "carrier_x_rad from -1.5 to 1.5, got 2");
  refused(ErrorCode::io, {{"encoding", "amplitude"}}, "amplitude_min of its amplitude encoding, got none");
  refused(ErrorCode::io, {{"encoding", ""}, {"software", "holotone"}},
          "a hologram, got a picture that states no encoding");
  expect_error(ErrorCode::invalid_argument, path + ": ", [&] {
    (void)read_hologram(path, {.overrides = {{"encoding", "fase"}}});
  });
  expect_error(ErrorCode::invalid_argument, "read_hologram: zero_order: expected an amplitude encoding",
               [&] { (void)read_hologram(path, {.zero_order = true}); });
  expect_error(ErrorCode::invalid_argument, "read_hologram: unfiltered: expected an encoding with a stop",
               [&] { (void)read_hologram(path, {.unfiltered = true}); });
  const HologramRows file(path);
  Array<Complex, 2> rows({3, grid.nx});
  expect_error(ErrorCode::invalid_argument, "HologramRows: rows: expected rows of 65 pixels among 48",
               [&] { file.read(46, rows.view()); });
}

}  // namespace
}  // namespace holotone

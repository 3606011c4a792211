// What a viewer sees of quantized holograms: signal to noise at the eye, the twin image, a window off the axis.
#include <algorithm>
#include <cmath>
#include <complex>
#include <iterator>
#include <sstream>
#include <tests/cli/quantize_program.hpp>
#include <tests/reference/window.hpp>

namespace holotone::test {
namespace {

/// Signal-to-noise ratio at the eye, dB: the field of a file against the light of codes, in a window on the axis.
double seen_db(const Image& image, const FieldFile& field, double distance_m, double size_m, double pitch_m,
               double wavelength_m) {
  const auto& codes = std::get<Array<std::uint8_t, 3>>(image.pixels);
  const auto [ny, nx] = field.values.shape();
  const double side = size_m * pitch_m / wavelength_m / std::hypot(size_m / 2, distance_m);
  reference::Windowed panel{{}, {}, ny, nx, 0, 0, side, side};
  for (std::int64_t i = 0; i < ny * nx; ++i) {
    const double x = (static_cast<double>(i % nx) - static_cast<double>(nx - 1) / 2) * pitch_m;
    const double y = (static_cast<double>(ny - 1) / 2 - static_cast<double>(i / nx)) * pitch_m;
    const auto lens = reference::curvature(x, y, 0, 0, distance_m, wavelength_m);
    panel.field.push_back(std::complex<double>(field.values.data()[i]) * lens);
    panel.light.push_back(std::polar(1.0, 2 * M_PI * codes.data()[i] / 256.0) * lens);
  }
  const auto sums = reference::seen({panel});
  return 10 * std::log10(sums.signal / sums.noise);
}

TEST_F(QuantizeTest, TheReportIsTheSignalAndTheNoiseAtTheEye) {
  make_scene();
  const auto quantized = [&](const std::string& name, std::vector<std::string> more) {
    more.insert(more.end(), {"--viewer", "36mm:6mm"});
    return run_json(line("scene.npy", name, more))["holograms"][0]["window"];
  };
  const auto window = quantized("vded.png", {"--hogel", "128"});
  (void)quantized("truncated.png", {"--method", "truncate"});
  const auto field = read_field(path("scene.npy"));
  const auto seen_by_eye = [&](const char* name) {
    return seen_db(image(name), field, 36e-3, 6e-3, pitch_m, wavelength_m);
  };
  const double vded_db = seen_by_eye("vded.png");
  const double truncated_db = seen_by_eye("truncated.png");
  std::printf("signal to noise at the eye: least squares %.2f dB, truncation %.2f dB\n", vded_db, truncated_db);
  EXPECT_NEAR(window["projected_signal_to_noise_db"].get<double>(), vded_db, 1e-3);
  EXPECT_NEAR(window["truncated_projected_signal_to_noise_db"].get<double>(), truncated_db, 1e-3);
  EXPECT_NEAR(window["projected_gain_db"].get<double>(), vded_db - truncated_db, 2e-3);
  EXPECT_NEAR(window["projected_signal"].get<double>() + window["projected_noise"].get<double>(),
              window["efficiency"].get<double>(), 1e-9);
  EXPECT_EQ(window["twin"], 0);
}

// One bit: on the axis the eye sees the twin image too, with a tilted beam the picture alone, in its place.
class OffAxisTest : public QuantizeTest {
 protected:
  [[nodiscard]] std::vector<std::string> quantized(const std::string& name, std::vector<std::string> more) const {
    more.insert(more.end(), {"--viewer", "36mm:6mm", "--hogel", "128", "--distance", "-2mm"});
    return line("scene.npy", name, more);
  }

  [[nodiscard]] std::vector<float> eye_of(const std::string& name, const std::vector<std::string>& flags) const {
    std::vector<std::string> arguments{"reconstruct", path(name), "-o",  path("eye.tiff"), "--linear", "--viewer",
                                       "36mm:4mm",    "--device", "cpu", "--output-pitch", "2um"};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    const auto result = run(arguments);
    EXPECT_EQ(result.exit_code, 0) << result.error;
    const auto seen = read_image(path("eye.tiff"));
    const auto values = std::get<Array<float, 3>>(seen.pixels).host();
    return {values.begin(), values.end()};
  }
};

double correlation(const std::vector<float>& a, const std::vector<float>& b) {
  double product = 0;
  double norms[2] = {};
  for (std::size_t i = 0; i < a.size(); ++i) {
    product += static_cast<double>(a[i]) * static_cast<double>(b[i]);
    norms[0] += std::pow(static_cast<double>(a[i]), 2);
    norms[1] += std::pow(static_cast<double>(b[i]), 2);
  }
  return product / std::sqrt(norms[0] * norms[1]);
}

TEST_F(OffAxisTest, OneBitShowsThePictureWithoutItsTwin) {
  make_scene();
  const auto truth = eye_of("scene.npy", {"--pitch", "1um", "--wavelength", "532nm", "--distance", "-2mm"});
  for (const std::string encoding : {"phase", "amplitude"}) {
    const std::vector<std::string> kind{"--encode", encoding, "--bits", "1"};
    auto tilted = kind;
    tilted.insert(tilted.end(), {"--reference-angle", "auto"});
    const auto on = run_json(quantized("on.png", kind))["holograms"][0];
    const auto off = run_json(quantized("off.png", tilted))["holograms"][0];
    EXPECT_NEAR(on["window"]["twin"].get<double>(), 1, 0.2);
    EXPECT_LT(off["window"]["twin"].get<double>(), 0.01);
    EXPECT_NEAR(on["window"]["zero_order"].get<double>(), encoding == "amplitude" ? 0.25 : 0, 1e-12);
    EXPECT_EQ(off["window"]["zero_order"], 0);
    const double angle = off["reference_angle_rad"][1].get<double>();
    EXPECT_EQ(std::stod(image("off.png").metadata.at("reference_angle_y_rad")), angle);
    EXPECT_EQ(image("on.png").metadata.count("reference_angle_y_rad"), 0u);
    const double on_db = on["window"]["projected_signal_to_noise_db"];
    const double off_db = off["window"]["projected_signal_to_noise_db"];
    const double on_eye = correlation(eye_of("on.png", {}), truth);
    const double off_eye = correlation(eye_of("off.png", {}), truth);
    std::printf(
        "signal to noise %.1f dB on the axis, %.1f dB off (beam %.2f deg); correlation of pictures %.3f, %.3f\n", on_db,
        off_db, angle * 180 / M_PI, on_eye, off_eye);
    EXPECT_LT(on_db, 0.5);
    EXPECT_GT(off_db, 10);
    EXPECT_LT(on_eye, 0.5);
    EXPECT_GT(off_eye, 0.95);
  }
}

TEST_F(OffAxisTest, TheProgramNamesTheTwinAndTheBeam) {
  make_scene();
  const auto on = run(quantized("on.png", {"--encode", "amplitude"}));
  EXPECT_NE(on.error.find("the twin image lies in the viewing window"), std::string::npos) << on.error;
  EXPECT_NE(on.error.find("the zero order lies in the viewing window"), std::string::npos) << on.error;
  EXPECT_NE(on.error.find("use --reference-angle auto"), std::string::npos) << on.error;
  const auto off = run(quantized("off.png", {"--bits", "1", "--reference-angle", "auto"}));
  EXPECT_EQ(off.error,
            "holotone: codes of few bits look black in a viewer of pictures; a panel takes them as they are; "
            "--scale-codes writes them up to white\n");
  const auto figures = run_json(quantized("off.png", {"--bits", "1", "--reference-angle", "auto"}))["holograms"][0];
  const auto& window = figures["window"];
  for (const auto& words :
       {fmt::format("scale {:.6g}", figures["scale"].get<double>()),
        fmt::format(", signal to noise {:.1f} dB;", window["signal_to_noise_db"].get<double>()),
        fmt::format(" projected signal to noise {:.1f} dB,", window["projected_signal_to_noise_db"].get<double>())}) {
    EXPECT_NE(off.output.find(words), std::string::npos) << words << '\n' << off.output;
  }
  const auto phases = run_json(quantized("phases.png", {"--bits", "2", "--reference-angle", "auto"}));
  EXPECT_EQ(phases["holograms"][0]["reference_angle_rad"][1], 0);  // four phases have no twin
  // BMP holds no metadata; the flags state the beam.
  const auto json = run_json(quantized("off.bmp", {"--bits", "1", "--reference-angle", "auto"}));
  std::istringstream words(json["holograms"][0]["reconstruct_flags"].get<std::string>());
  const std::vector<std::string> flags{std::istream_iterator<std::string>(words), {}};
  EXPECT_EQ(eye_of("off.bmp", flags), eye_of("off.png", {}));
  // Three colours have one beam.
  auto arguments = quantized("red.png", {"--bits", "1", "--reference-angle", "auto"});
  *(std::find(arguments.begin(), arguments.end(), "--wavelength") + 1) = "638nm";
  const auto red = run_json(arguments);
  EXPECT_EQ(red["holograms"][0]["reference_angle_rad"], json["holograms"][0]["reference_angle_rad"]);
  expect_refused(line("scene.npy", "out.png", {"--reference-angle", "auto"}),
                 {"--reference-angle: expected angles, or --viewer for auto"});
  expect_refused(
      line("scene.npy", "out.png", {"--bits", "1", "--reference-angle", "auto", "--viewer", "36mm:12mm"}),
      {"--reference-angle: expected a viewing window of at most 0.494 cycles a pixel", "got 0.631", "scene"});
  expect_refused(line("scene.npy", "out.png", {"--reference-angle", "3"}), {"--reference-angle", "unit"});
  expect_refused(line("scene.npy", "out.png", {"--reference-angle", "20deg"}),
                 {"--reference-angle: expected at most 15.4", "two pixels a fringe", "got 20 deg"});
}

}  // namespace
}  // namespace holotone::test

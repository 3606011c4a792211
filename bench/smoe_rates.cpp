// Rate and distortion of .smoe files and of JPEG, and of JPEG XL, WebP and AVIF if built with them: bytes of whole
// files, PSNR and SSIM of the decoded pictures.
//
//   smoe_rates kodim05.png camera.png chess/view_%v_%u.png --json rates.json
//
// A name with %v and %u is a light field: views counted from 0, v upwards. Its .smoe is one file for all views; other
// formats have one file for each view. Bits are a pixel of all views. PSNR is that of all 8-bit codes, grey or R, G and
// B, in a light field the mean over views. SSIM is that of luma (0.299 R + 0.587 G + 0.114 B), window of 11 pixels.
//
// A new codec does not repeat the fits: --keep takes the curves that a file of --json has, and measures the others.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <bench/measure.hpp>
#include <bench/still_codecs.hpp>
#include <cctype>
#include <cmath>
#include <exception>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <holotone/io/images/image.hpp>
#include <holotone/metrics/similarity.hpp>
#include <holotone/smoe/render.hpp>
#include <holotone/smoe/store.hpp>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace {

namespace fs = std::filesystem;
using bench::Codes;
using holotone::Array;

struct Options {
  std::vector<std::string> inputs;
  std::vector<double> rates{0.05, 0.1, 0.2, 0.3, 0.5, 0.8};
  std::vector<double> view_rates{0.005, 0.01, 0.02, 0.04, 0.08};
  std::int64_t iterations = 1000;
  std::string keep;
  std::string json;
};

/// A picture, or the views of a light field.
struct Scene {
  std::string name;
  std::vector<Codes> pictures;
  std::vector<Array<float, 3>> colours;
  std::vector<std::vector<double>> at;

  [[nodiscard]] double pixels() const {
    return static_cast<double>(pictures.size()) * static_cast<double>(pictures[0].shape()[0] * pictures[0].shape()[1]);
  }
  [[nodiscard]] std::vector<holotone::SmoeFitView> views() const {
    std::vector<holotone::SmoeFitView> result;
    for (std::size_t i = 0; i < colours.size(); ++i) result.push_back({colours[i].view(), at[i]});
    return result;
  }
};

void add_picture(Scene& scene, const std::string& path) {
  auto image = holotone::read_image(path);
  auto* const codes = std::get_if<Codes>(&image.pixels);
  if (codes == nullptr || (codes->shape()[2] != 3 && codes->shape()[2] != 1)) {
    throw std::runtime_error(path + ": expected 8-bit RGB or grey");
  }
  scene.colours.push_back(to_float(image));
  scene.pictures.push_back(std::move(*codes));
}

std::string with_numbers(std::string path, std::int64_t v, std::int64_t u) {
  path.replace(path.find("%v"), 2, std::to_string(v));
  return path.replace(path.find("%u"), 2, std::to_string(u));
}

Scene read_scene(const std::string& path) {
  Scene scene;
  scene.name = fs::path(path).stem().string();
  if (path.find("%u") == std::string::npos || path.find("%v") == std::string::npos) {
    add_picture(scene, path);
    scene.at.emplace_back();
    return scene;
  }
  scene.name = fs::path(path).parent_path().filename().string();
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  while (fs::exists(with_numbers(path, rows, 0))) ++rows;
  while (fs::exists(with_numbers(path, 0, columns))) ++columns;
  if (rows < 2 || columns < 2) throw std::runtime_error(path + ": expected 2 x 2 views or more");
  for (std::int64_t v = 0; v < rows; ++v) {
    for (std::int64_t u = 0; u < columns; ++u) {
      add_picture(scene, with_numbers(path, v, u));
      scene.at.push_back({2.0 * static_cast<double>(u) / static_cast<double>(columns - 1) - 1,
                          1 - 2.0 * static_cast<double>(v) / static_cast<double>(rows - 1)});
    }
  }
  return scene;
}

Array<float, 2> luma_of(const Codes& codes) {
  const std::int64_t channels = codes.shape()[2];
  Array<float, 2> luma({codes.shape()[0], codes.shape()[1]});
  for (std::int64_t i = 0; i < luma.size(); ++i) {
    const auto code = [&](std::int64_t c) {
      return static_cast<double>(codes.data()[channels * i + std::min(c, channels - 1)]);
    };
    luma.data()[i] = static_cast<float>((0.299 * code(0) + 0.587 * code(1) + 0.114 * code(2)) / 255);
  }
  return luma;
}

double compute_psnr(const Codes& a, const Codes& b) {
  double sum = 0;
  for (std::int64_t i = 0; i < a.size(); ++i) {
    const double off = static_cast<double>(a.data()[i]) - static_cast<double>(b.data()[i]);
    sum += off * off;
  }
  return holotone::psnr_db(sum / static_cast<double>(a.size()), 255);
}

/// One point of a curve.
struct Point {
  double setting = 0;  ///< quality parameter of the codec
  std::int64_t bytes = 0;
  double psnr_db = 0;
  double ssim = 0;
};

nlohmann::json point_json(const Point& point, const Scene& scene) {
  return {{"setting", point.setting},
          {"bytes", point.bytes},
          {"bits_per_pixel", 8 * static_cast<double>(point.bytes) / scene.pixels()},
          {"psnr_db", point.psnr_db},
          {"ssim", point.ssim}};
}

/// Adds picture `i` to the means.
void compare(Point& point, const Scene& scene, std::size_t i, const Codes& given) {
  const auto share = 1 / static_cast<double>(scene.pictures.size());
  const auto a = luma_of(scene.pictures[i]);
  const auto b = luma_of(given);
  point.psnr_db += share * compute_psnr(scene.pictures[i], given);
  point.ssim += share * holotone::ssim(a.view(), b.view());
}

Point still_point(const Scene& scene, const bench::StillCodec& codec, double setting) {
  Point point;
  point.setting = setting;
  for (std::size_t i = 0; i < scene.pictures.size(); ++i) {
    const auto coded = codec.code(scene.pictures[i], setting);
    point.bytes += coded.bytes;
    compare(point, scene, i, coded.picture);
  }
  return point;
}

Codes to_codes(const Array<float, 3>& colours) {
  Codes codes(colours.shape());
  for (std::int64_t i = 0; i < colours.size(); ++i) {
    const double value = std::clamp(static_cast<double>(colours.data()[i]), 0.0, 1.0);
    codes.data()[i] = static_cast<std::uint8_t>(std::floor(255 * value + 0.5));
  }
  return codes;
}

Point smoe_point(const Scene& scene, double rate, const Options& options) {
  const double bytes = std::floor(rate * scene.pixels() / 8);
  holotone::SmoeFitOptions fit;
  fit.iterations = options.iterations;
  fit.components =
      holotone::smoe_components_for(static_cast<std::int64_t>(bytes), 2 + static_cast<int>(scene.at[0].size()),
                                    static_cast<int>(scene.pictures[0].shape()[2]));
  const auto views = scene.views();
  holotone::SmoeFitter fitter(views, fit);
  fitter.run();
  const auto file = holotone::store_smoe(views, fitter.model(), {.max_bytes = static_cast<std::int64_t>(bytes)});
  Point point;
  point.setting = static_cast<double>(fit.components);
  point.bytes = std::ssize(file.bytes);
  holotone::SmoeRenderer renderer(holotone::decode_smoe(file.bytes, scene.name));
  for (std::size_t i = 0; i < scene.pictures.size(); ++i) {
    const auto& shape = scene.pictures[i].shape();
    Array<float, 3> colours(shape);
    renderer.render({{shape[0], shape[1]}, {}, {}, scene.at[i]}, colours.view());
    compare(point, scene, i, to_codes(colours));
  }
  return point;
}

void print(const std::string& codec, const Point& point, const Scene& scene) {
  fmt::print("{:<10} {:<14} {:>8g} {:>9} {:>8.4f} {:>7.2f} {:>7.4f}\n", scene.name, codec, point.setting, point.bytes,
             8 * static_cast<double>(point.bytes) / scene.pixels(), point.psnr_db, point.ssim);
  std::fflush(stdout);
}

/// The scene in the file of --keep, with the commit of each of its curves.
nlohmann::json kept_scene(const nlohmann::json& kept, const std::string& name) {
  for (auto scene : kept.value("scenes", nlohmann::json::array())) {
    if (scene.at("name") != name) continue;
    for (const auto& [codec, curve] : scene.at("curves").items()) {
      if (!scene["commits"].contains(codec)) scene["commits"][codec] = kept.at("commit");
    }
    return scene;
  }
  return {{"curves", nlohmann::json::object()}, {"commits", nlohmann::json::object()}};
}

nlohmann::json measured(const Scene& scene, const std::vector<bench::StillCodec>& codecs, const nlohmann::json& kept,
                        const Options& options) {
  auto result = kept_scene(kept, scene.name);
  result["name"] = scene.name;
  result["views"] = scene.pictures.size();
  result["channels"] = scene.pictures[0].shape()[2];
  result["resolution"] = {scene.pictures[0].shape()[1], scene.pictures[0].shape()[0]};
  const auto curve = [&](const std::string& codec, const std::vector<double>& settings, const auto& point_of) {
    if (result["curves"].contains(codec)) return;
    result["commits"][codec] = bench::commit();
    for (const double setting : settings) {
      const Point point = point_of(setting);
      print(codec, point, scene);
      result["curves"][codec].push_back(point_json(point, scene));
    }
  };
  const bool one = scene.pictures.size() == 1;
  for (const auto& codec : codecs) {
    curve(codec.name, one ? codec.settings : codec.settings_views,
          [&](double setting) { return still_point(scene, codec, setting); });
  }
  curve("smoe", one ? options.rates : options.view_rates,
        [&](double rate) { return smoe_point(scene, rate, options); });
  return result;
}

nlohmann::json read_kept(const std::string& path) {
  if (path.empty()) return nlohmann::json::object();
  std::ifstream file(path);
  if (!file) throw std::runtime_error(path + ": cannot be read");
  return nlohmann::json::parse(file);
}

/// "jpeg_xl" of "JPEG XL".
std::string codec_key(std::string name) {
  for (char& letter : name) letter = letter == ' ' ? '_' : static_cast<char>(std::tolower(letter));
  return name;
}

int run(const Options& options) {
  const auto codecs = bench::still_codecs();
  const auto kept = read_kept(options.keep);
  nlohmann::json results = {{"program", "smoe_rates"},
                            {"commit", bench::commit()},
                            {"date_utc", bench::utc_date()},
                            {"iterations", options.iterations}};
  for (const auto& codec : codecs) results[codec_key(codec.name)] = codec.version;
  fmt::print("{:<10} {:<14} {:>8} {:>9} {:>8} {:>7} {:>7}\n", "scene", "codec", "setting", "bytes", "bits/px", "PSNR",
             "SSIM");
  for (const auto& input : options.inputs)
    results["scenes"].push_back(measured(read_scene(input), codecs, kept, options));
  if (!options.json.empty()) {
    std::ofstream file(options.json);
    file << results.dump(1) << "\n";
    file.close();
    if (!file) throw std::runtime_error(options.json + ": cannot be written");
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("Rate and distortion of .smoe files against other codecs");
  app.add_option("IN", options.inputs, "Pictures, or views by a name with %v and %u")->required();
  app.add_option("--rates", options.rates, "Bits a pixel of .smoe files of pictures")->capture_default_str();
  app.add_option("--view-rates", options.view_rates, "The same of light fields, a pixel of all views")
      ->capture_default_str();
  app.add_option("--iterations", options.iterations, "Of the fits")->capture_default_str();
  app.add_option("--keep", options.keep,
                 "Table of an earlier run: its curves are kept, only missing ones are measured");
  app.add_option("--json", options.json, "Also write the table to this file");
  CLI11_PARSE(app, argc, argv);
  try {
    return run(options);
  } catch (const std::exception& error) {
    fmt::print(stderr, "smoe_rates: {}\n", error.what());
    return 2;
  }
}

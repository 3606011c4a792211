// Tables 1 to 4 and Figure 11 of Avramelos, Saenen, Verhack, Van Wallendael, Lambert, Sikora, "Highly parallel steered
// mixture-of-experts rendering at pixel-level for image and light field data" (2020), measured here. The paper's
// models are not published: random models have the same numbers of components and sizes of pictures
// (cases::dense_smoe).
#include <algorithm>
#include <bench/avramelos_models.hpp>
#include <bench/paper_table.hpp>
#include <cmath>
#include <fmt/format.h>
#include <holotone/core/parallel.hpp>
#include <mutex>
#include <optional>

namespace {

using bench::AvramelosDecoder;
using bench::DecoderMode;
using bench::PictureModel;
using bench::PixelBlock;
using bench::three_digits;
using holotone::Array;
using holotone::Device;
using holotone::SmoeRenderOptions;

constexpr std::int64_t block_sizes[] = {16, 32, 64, 128, 256};
constexpr int bit_depths[] = {8, 10, 12, 14, 16};

// ---- Table 1

/// Error statistics of colours against the truth.
struct Precision {
  double luminance = 0;  ///< sum of squared luminance errors
  double squares = 0;
  double largest = 0;
  std::int64_t pixels = 0;
  std::array<std::int64_t, 5> beyond_rule{};   ///< pixels whose mean square is not below 2^-b
  std::array<std::int64_t, 5> beyond_error{};  ///< pixels with an error not below 2^-(b + 1)

  template <class Got>
  void add(const Got& got, const AvramelosDecoder<double, 2>::Colour& truth) {
    std::array<double, 3> error{};
    for (std::size_t c = 0; c < 3; ++c) error[c] = static_cast<double>(got[c]) - truth[c];
    const double square = error[0] * error[0] + error[1] * error[1] + error[2] * error[2];
    const double most = std::max({std::abs(error[0]), std::abs(error[1]), std::abs(error[2])});
    luminance += std::pow(0.299 * error[0] + 0.587 * error[1] + 0.114 * error[2], 2);
    squares += square;
    largest = std::max(largest, most);
    ++pixels;
    for (std::size_t i = 0; i < beyond_rule.size(); ++i) {
      beyond_rule[i] += square / 3 >= std::exp2(-bit_depths[i]) ? 1 : 0;
      beyond_error[i] += most >= std::exp2(-bit_depths[i] - 1) ? 1 : 0;
    }
  }
  void add(const Precision& other) {
    luminance += other.luminance;
    squares += other.squares;
    largest = std::max(largest, other.largest);
    pixels += other.pixels;
    for (std::size_t i = 0; i < beyond_rule.size(); ++i) {
      beyond_rule[i] += other.beyond_rule[i];
      beyond_error[i] += other.beyond_error[i];
    }
  }
};

std::string most_bits(const std::array<std::int64_t, 5>& beyond) {
  int bits = 0;
  for (std::size_t i = 0; i < beyond.size() && beyond[i] == 0; ++i) bits = bit_depths[i];
  return bits == 0 ? "-" : fmt::format("{}-bit", bits);
}

void add_precision_row(std::vector<std::vector<std::string>>& rows, nlohmann::json& results, const std::string& name,
                       const Precision& own) {
  const auto count = static_cast<double>(own.pixels);
  const double mse = own.luminance / count;
  const double rmse = std::sqrt(own.squares / (3 * count));
  std::vector<std::string> row{name,
                               fmt::format("{:.2e}", mse),
                               fmt::format("{:.2e}", rmse),
                               fmt::format("{:.2e}", own.largest),
                               most_bits(own.beyond_rule),
                               most_bits(own.beyond_error)};
  for (const auto beyond : own.beyond_error) row.push_back(std::to_string(beyond));
  rows.push_back(row);
  results["table_1"].push_back({{"mode", name},
                                {"luminance_mse", mse},
                                {"rmse", rmse},
                                {"largest", own.largest},
                                {"pixels_beyond_rule", own.beyond_rule},
                                {"pixels_beyond_error", own.beyond_error}});
}

/// Errors of the methods of Table 1 against the truth, in the table's order.
struct Precisions {
  Precision fast_float32;
  Precision slow_float32;
  Precision fast_float64;
  Precision renderer_fast;
  Precision renderer_robust;

  void add(const Precisions& other) {
    fast_float32.add(other.fast_float32);
    slow_float32.add(other.slow_float32);
    fast_float64.add(other.fast_float64);
    renderer_fast.add(other.renderer_fast);
    renderer_robust.add(other.renderer_robust);
  }
};

Precisions precisions_of(const PictureModel& car, const PixelBlock& block, const Array<float, 3>& fast,
                         const Array<float, 3>& robust) {
  const auto list = window_list(car.model, block, car.window_px);
  AvramelosDecoder<double, 2> truth(car.model, list, DecoderMode::slow);
  AvramelosDecoder<double, 2> fast64(car.model, list, DecoderMode::fast);
  AvramelosDecoder<float, 2> fast32(car.model, list, DecoderMode::fast);
  AvramelosDecoder<float, 2> slow32(car.model, list, DecoderMode::slow);
  Precisions own;
  for (std::int64_t row = block.top; row < block.top + block.height; ++row) {
    for (std::int64_t column = block.left; column < block.left + block.width; ++column) {
      const std::array<double, 2> x{static_cast<double>(column) + 0.5, static_cast<double>(row) + 0.5};
      const auto expected = truth.at(x);
      own.fast_float32.add(fast32.at(x), expected);
      own.slow_float32.add(slow32.at(x), expected);
      own.fast_float64.add(fast64.at(x), expected);
      const auto of = [&](const Array<float, 3>& image) {
        return std::array{image(row, column, 0), image(row, column, 1), image(row, column, 2)};
      };
      own.renderer_fast.add(of(fast), expected);
      own.renderer_robust.add(of(robust), expected);
    }
  }
  return own;
}

void print_table_1(const bench::TableOptions& options, const PictureModel& car, nlohmann::json& results) {
  constexpr std::int64_t side = 64;
  fmt::print("Table 1: precision with blocks of 64 pixels, {}\n\n", describe(car));
  SmoeRenderOptions window = bench::window_options(side, car.window_px);
  const auto fast = bench::rendered(car, window, options.device);
  window.precision = holotone::SmoePrecision::robust;
  const auto robust = bench::rendered(car, window, options.device);
  const std::int64_t across = car.width / side;
  Precisions all;
  std::mutex adding;
  holotone::parallel_for(0, across * (car.height / side), [&](std::int64_t i) {
    const auto own = precisions_of(car, {i % across * side, i / across * side, side, side}, fast, robust);
    const std::scoped_lock lock(adding);
    all.add(own);
  });
  std::vector<std::vector<std::string>> rows = {{"mode", "luminance MSE", "RMSE", "largest error", "paper's rule",
                                                 "by error", "beyond 8", "10", "12", "14", "16"}};
  rows.push_back({"published, fast", "2.3891e-05", "-", "4.2367e-06", "14-bit", "-", "-", "-", "-", "-", "-"});
  rows.push_back({"published, slow", "2.4083e-05", "-", "4.5229e-06", "14-bit", "-", "-", "-", "-", "-", "-"});
  const auto add = [&](const std::string& name, const Precision& own) { add_precision_row(rows, results, name, own); };
  add("fast, float32", all.fast_float32);
  add("slow, float32", all.slow_float32);
  add("fast, float64", all.fast_float64);
  add("SmoeRenderer fast", all.renderer_fast);
  add("SmoeRenderer robust", all.renderer_robust);
  bench::print_table(rows);
  fmt::print(
      "\nTruth: the paper's slow mode (Cholesky, QR) in float64 over each block's list, {} pixels of 3 channels. First "
      "three\n"
      "rows: the paper's decoder written for this table, on the CPU; the last two: the library on {}, window around "
      "the same\n"
      "blocks, pictures in float32. Paper's rule: most bits b of 8 to 16 where no pixel has a mean squared error of "
      "2^-b or more;\n"
      "by error: where no colour is off by 2^-(b+1) or more; right: pixels that are. No mean square can exceed the "
      "square of the\n"
      "largest error, as the published columns have it: they are as printed.\n",
      all.fast_float32.pixels, to_string(options.device));
}

// ---- Table 2 and Figure 11

/// Published seconds of Table 2 for a block of 128 x 128.
struct PublishedBlock {
  double serial;
  double quasar;
  double quasar_shared;
  double opencl;
};
constexpr PublishedBlock table_2[] = {{1.2, 0.0008, 0.0003, 0.0005},
                                      {3.5, 0.0021, 0.0007, 0.0013},
                                      {3.5, 0.0120, 0.0036, 0.0029},
                                      {3.9, 0.0131, 0.0041, 0.0043}};

/// Block of side x side pixels that contains the centre of the picture.
PixelBlock middle_block(const PictureModel& picture, std::int64_t side) {
  return {picture.width / 2 / side * side, picture.height / 2 / side * side, side, side};
}

/// Time of one thread for a block in float64, in the paper's fast mode, in milliseconds. Extrapolated from about `most`
/// evenly spread pixels.
template <int D>
double serial_ms(const PictureModel& picture, const PixelBlock& block, const std::vector<std::int64_t>& list,
                 std::int64_t most) {
  const bench::Stopwatch clock;
  AvramelosDecoder<double, D> decoder(picture.model, list, DecoderMode::fast);
  const double prepared = clock.seconds();
  const std::int64_t pixels = block.width * block.height;
  const std::int64_t step = std::max<std::int64_t>(1, pixels / most) | 1;
  std::array<double, D> x{};
  double sum = 0;
  std::int64_t done = 0;
  const bench::Stopwatch decoding;
  for (std::int64_t i = 0; i < pixels; i += step, ++done) {
    x[0] = static_cast<double>(block.left + i % block.width) + 0.5;
    x[1] = static_cast<double>(block.top + i / block.width) + 0.5;
    sum += decoder.at(x)[0];
  }
  const double seconds = decoding.seconds() * static_cast<double>(pixels) / static_cast<double>(done);
  if (!std::isfinite(sum)) throw std::runtime_error("the serial decoder's colours are not finite");
  return 1e3 * (prepared + seconds);
}

struct BlockTimes {
  std::size_t components = 0;
  double serial = 0;
  double window = 0;
  double bounded = 0;
};

/// `whole`: the serial decoder decodes all pixels; otherwise its time is extrapolated.
BlockTimes block_times(const PictureModel& picture, std::int64_t side, Device device, bool whole) {
  const PixelBlock block = middle_block(picture, side);
  const auto list = window_list(picture.model, block, picture.window_px);
  const auto most =
      whole ? side * side : std::max<std::int64_t>(64, 4'000'000 / std::max<std::int64_t>(1, std::ssize(list)));
  BlockTimes times;
  times.components = list.size();
  times.serial = picture.model.dimensions == 2 ? serial_ms<2>(picture, block, list, most)
                                               : serial_ms<4>(picture, block, list, most);
  times.window = bench::render_ms(picture, block, bench::window_options(side, picture.window_px), device);
  times.bounded = bench::render_ms(picture, block, {}, device);
  return times;
}

void print_table_2(const bench::TableOptions& options, const std::vector<PictureModel>& pictures,
                   nlohmann::json& results) {
  fmt::print(
      "\nTable 2: a block of 128 x 128 pixels, milliseconds; published on a Core i7-5960X and a GTX Titan X\n\n");
  std::vector<std::vector<std::string>> rows = {{"model", "components", "C++", "Quasar", "Quasar SM", "OpenCL",
                                                 "serial here", "window here", "bounded here", "serial / window here",
                                                 "OpenCL / window here"}};
  for (std::size_t i = 0; i < pictures.size(); ++i) {
    const PublishedBlock& published = table_2[i];
    const BlockTimes own = block_times(pictures[i], 128, options.device, !options.small);
    rows.push_back({pictures[i].name, std::to_string(own.components), three_digits(1e3 * published.serial),
                    three_digits(1e3 * published.quasar), three_digits(1e3 * published.quasar_shared),
                    three_digits(1e3 * published.opencl), three_digits(own.serial), three_digits(own.window),
                    three_digits(own.bounded), three_digits(own.serial / own.window),
                    three_digits(1e3 * published.opencl / own.window)});
    results["table_2"].push_back({{"model", pictures[i].name},
                                  {"components", own.components},
                                  {"published_serial_ms", 1e3 * published.serial},
                                  {"published_quasar_ms", 1e3 * published.quasar},
                                  {"published_quasar_shared_ms", 1e3 * published.quasar_shared},
                                  {"published_opencl_ms", 1e3 * published.opencl},
                                  {"serial_ms", own.serial},
                                  {"window_ms", own.window},
                                  {"bounded_ms", own.bounded}});
  }
  bench::print_table(rows);
  fmt::print(
      "\nSerial here: the paper's fast mode in float64 on one thread of this machine's CPU, for each pixel all of the "
      "block's\n"
      "components, scalar code, inverses made once; a light field's components as they are, in four dimensions. Window "
      "and\n"
      "bounded here: SmoeRenderer on {}, slicing of light fields and selection included (published: without "
      "selection).\n",
      to_string(options.device));
}

void print_figure_11(const bench::TableOptions& options, const std::vector<PictureModel>& pictures,
                     nlohmann::json& results) {
  fmt::print("\nFigure 11 (figure only): one block by its size, milliseconds in all and nanoseconds a pixel\n\n");
  std::vector<std::vector<std::string>> rows = {{"model", "block", "components", "serial ms", "window ms", "bounded ms",
                                                 "serial ns/px", "window ns/px", "bounded ns/px"}};
  for (const auto& picture : pictures) {
    for (const auto side : block_sizes) {
      if (options.small && side > 128) continue;  // no such block in the smaller pictures
      const BlockTimes own = block_times(picture, side, options.device, false);
      const double a_pixel = 1e6 / static_cast<double>(side * side);
      rows.push_back({picture.name, std::to_string(side), std::to_string(own.components), three_digits(own.serial),
                      three_digits(own.window), three_digits(own.bounded), three_digits(own.serial * a_pixel),
                      three_digits(own.window * a_pixel), three_digits(own.bounded * a_pixel)});
      results["figure_11"].push_back({{"model", picture.name},
                                      {"block", side},
                                      {"components", own.components},
                                      {"serial_ms", own.serial},
                                      {"window_ms", own.window},
                                      {"bounded_ms", own.bounded}});
    }
  }
  bench::print_table(rows);
  fmt::print(
      "\nAs in Table 2; serial: from at most 4 million pairs of pixel and component, for all of the block's "
      "pixels.\n");
}

// ---- Table 3

/// Published microseconds of Table 3.
struct PublishedTransfer {
  double quasar_up;
  double quasar_down;
  double opencl_up;
};
constexpr PublishedTransfer table_3[] = {{67, 92, 0.3}, {65, 96, 1.1}, {69, 113, 4.4}, {83, 119, 17}, {131, 172, 71}};

void print_table_3(const bench::TableOptions& options, const PictureModel& car, nlohmann::json& results) {
  if (options.device.backend == holotone::Backend::cpu) {
    fmt::print("\nTable 3 (transfers between host and device): the CPU has none.\n");
    return;
  }
  fmt::print("\nTable 3: transfers of a block of Car, microseconds; published with a GTX Titan X\n\n");
  std::vector<std::vector<std::string>> rows = {
      {"block", "up: Quasar", "OpenCL", "here", "bytes", "down: Quasar", "here", "bytes"}};
  const auto add = [&](const std::string& name, std::int64_t bytes_up, std::int64_t bytes_down,
                       const PublishedTransfer* published) {
    const double up = bench::transfer_us(bytes_up, options.device, true);
    const double down = bench::transfer_us(bytes_down, options.device, false);
    rows.push_back({name, published ? three_digits(published->quasar_up) : "-",
                    published ? three_digits(published->opencl_up) : "-", three_digits(up), std::to_string(bytes_up),
                    published ? three_digits(published->quasar_down) : "-", three_digits(down),
                    std::to_string(bytes_down)});
    results["table_3"].push_back({{"block", name}, {"up_us", up}, {"down_us", down}});
  };
  constexpr std::int64_t bytes_a_component = 15 * sizeof(float);
  constexpr std::int64_t bytes_a_pixel = 3 * sizeof(float);
  for (std::size_t i = 0; i < std::size(block_sizes); ++i) {
    const auto side = block_sizes[i];
    const auto list = window_list(car.model, middle_block(car, side), car.window_px);
    add(std::to_string(side), std::ssize(list) * bytes_a_component, side * side * bytes_a_pixel, &table_3[i]);
  }
  add("1080p", 169401 * bytes_a_component, std::int64_t{1920} * 1080 * bytes_a_pixel, nullptr);
  add("2160p", 686763 * bytes_a_component, std::int64_t{3840} * 2160 * bytes_a_pixel, nullptr);
  bench::print_table(rows);
  fmt::print(
      "\nHere: page-locked memory, each copy waited for; 15 float32 a component, 3 a pixel. SmoeRenderer sends a model "
      "once, when it\n"
      "is made, and leaves pictures on the device; the last rows are whole models and pictures of Table 4.\n");
}

// ---- Table 4

/// Published kernels per block and milliseconds; 0: none.
struct PublishedFrame {
  double kernels;
  double titan[2];  ///< 1080p, 4K
  double mobile[2];
};
constexpr PublishedFrame table_4[] = {{100.9, {11.7, 44.4}, {51.7, 155.1}},
                                      {177.95, {18.8, 69.6}, {69.1, 269.6}},
                                      {398.59, {36.1, 141.6}, {151.3, 816.7}},
                                      {1087.3, {92.7, 365.5}, {483.4, 1634.8}},
                                      {3665.5, {309.6, 2229.6}, {1750.1, 0}}};

/// Window with which blocks of `side` contain `kernels` components on average. Empty if the mean exceeds that even with
/// a window of 0.
std::optional<double> matching_window(const PictureModel& picture, std::int64_t side, double kernels) {
  std::optional<double> best;
  for (double low = 0, high = 64; high - low > 0.01;) {
    const double window = 0.5 * (low + high);
    (bench::mean_in_windows(picture, side, window) > kernels ? high : low) = window;
    best = high;
  }
  return bench::mean_in_windows(picture, side, 0) > kernels ? std::nullopt : best;
}

/// `size`: column of the published times.
void print_frames(const bench::TableOptions& options, const PictureModel& picture, std::size_t size,
                  nlohmann::json& results) {
  fmt::print("\nTable 4, {}: a frame, milliseconds; published on a GTX Titan X and a GTX 960M\n\n", describe(picture));
  std::vector<std::vector<std::string>> rows = {{"block", "kernels", "Titan X", "960M", "window px", "kernels here",
                                                 "here", "frames/s", "Titan X / here", "error", "at 16 px: kernels",
                                                 "here", "frames/s", "error"}};
  for (std::size_t i = 0; i < std::size(block_sizes); ++i) {
    const auto side = block_sizes[i];
    const PublishedFrame& published = table_4[i];
    const double mobile = published.mobile[size];
    std::vector<std::string> row{std::to_string(side), fmt::format("{}", published.kernels),
                                 three_digits(published.titan[size]), mobile > 0 ? three_digits(mobile) : "-"};
    nlohmann::json json = {{"model", picture.name},
                           {"size", {picture.width, picture.height}},
                           {"block", side},
                           {"published_kernels", published.kernels},
                           {"published_titan_ms", published.titan[size]},
                           {"published_960m_ms", published.mobile[size]}};
    const auto matching = matching_window(picture, side, published.kernels);
    if (matching) {
      const auto own = bench::frame(picture, bench::window_options(side, *matching), options.device);
      row.insert(row.end(), {three_digits(*matching), fmt::format("{:.1f}", own.kernels), three_digits(own.ms),
                             three_digits(1e3 / own.ms), three_digits(published.titan[size] / own.ms),
                             fmt::format("{:.1e}", own.error)});
      json["matching"] = {{"window_px", *matching}, {"kernels", own.kernels}, {"ms", own.ms}, {"error", own.error}};
    } else {
      row.insert(row.end(), 6, "-");
    }
    const auto own = bench::frame(picture, bench::window_options(side, 16), options.device);
    row.insert(row.end(), {fmt::format("{:.1f}", own.kernels), three_digits(own.ms), three_digits(1e3 / own.ms),
                           fmt::format("{:.1e}", own.error)});
    json["at_16_px"] = {{"kernels", own.kernels}, {"ms", own.ms}, {"error", own.error}};
    rows.push_back(row);
    results["table_4"].push_back(json);
  }
  bench::print_table(rows);
  const auto own = bench::frame(picture, {}, options.device);
  fmt::print(
      "\nbounded, tolerance 0.25/255: {:.1f} components a tile, {} ms, {} frames/s ({} published at best), {} times "
      "as\n"
      "fast as the best published; largest error {:.1e} against the sum of all components\n",
      own.kernels, three_digits(own.ms), three_digits(1e3 / own.ms), size == 0 ? 85.5 : 22.5,
      three_digits(table_4[0].titan[size] / own.ms), own.error);
  results["table_4"].push_back({{"model", picture.name},
                                {"size", {picture.width, picture.height}},
                                {"bounded", {{"kernels", own.kernels}, {"ms", own.ms}, {"error", own.error}}}});
}

void print_table_4(const bench::TableOptions& options, const std::string& fitted, nlohmann::json& results) {
  constexpr std::array<std::int64_t, 3> frames[] = {{1920, 1080, 169401}, {3840, 2160, 686763}};
  const std::int64_t share = options.small ? 8 : 1;
  for (std::size_t i = 0; i < std::size(frames); ++i) {
    const auto [width, height, count] = frames[i];
    if (count / (share * share) > options.max_points) continue;
    const auto picture = bench::seeded_model("seeded", 2, count / (share * share), width / share, height / share, 16);
    print_frames(options, picture, i, results);
  }
  for (std::size_t i = 0; i < std::size(frames); ++i) {
    const auto [width, height, count] = frames[i];
    if (fitted.empty() || count > options.max_points) continue;
    print_frames(options, bench::tiled_model(fitted, width, height), i, results);
  }
  fmt::print(
      "\nHere selection is included, published it is not. Kernels: mean over blocks, here over the renderer's tiles. "
      "Window\n"
      "px: the distance that gives as many components a block as published, '-' where more than that stand in a block "
      "at\n"
      "the published number of components; at 16 px: the paper's window for Car. Error: the largest at some hundred\n"
      "pixels, of windows against the same list's sum in float64.\n");
}

}  // namespace

int main(int argc, char** argv) {
  std::string fitted;
  const auto add_options = [&](CLI::App& app) {
    app.add_option("--fitted", fitted, "Table 4 also for this model of a picture (.smoe), tiled as the paper does");
  };
  return bench::run_table_program(
      argc, argv,
      {"paper_avramelos", "Tables 1 to 4 and Figure 11 of Avramelos et al., measured here",
       "Avramelos, Saenen, Verhack, Van Wallendael, Lambert, Sikora 2020", 169401, add_options},
      [&](const bench::TableOptions& options, nlohmann::json& results) {
        const auto pictures = bench::paper_pictures(options.small);
        const PictureModel& car = pictures[1];
        print_table_1(options, car, results);
        print_table_2(options, pictures, results);
        print_table_3(options, car, results);
        print_table_4(options, fitted, results);
        print_figure_11(options, pictures, results);
      });
}

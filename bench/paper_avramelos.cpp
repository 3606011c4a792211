// Tables 1 to 4 and Figures 9, 11 and 12 of Avramelos, Saenen, Verhack, Van Wallendael, Lambert, Sikora, "Highly
// parallel steered mixture-of-experts rendering at pixel-level for image and light field data" (2020), measured here.
// The paper's models are not published: random models have the same numbers of components and sizes of pictures
// (cases::dense_smoe).
#include <algorithm>
#include <bench/avramelos_tables.hpp>
#include <bench/mixture_loop.hpp>
#include <cmath>
#include <fmt/format.h>
#include <optional>

namespace {

using bench::AvramelosDecoder;
using bench::block_sizes;
using bench::cell;
using bench::DecoderMode;
using bench::middle_block;
using bench::PairTime;
using bench::PassMemory;
using bench::PictureModel;
using bench::PixelBlock;
using bench::three_digits;
using holotone::Backend;
using holotone::Device;

// ---- Table 2, Figures 11 and 12

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
  PairTime passes;
  std::optional<PairTime> passes_global;  ///< without local memory, on OpenCL
  std::optional<PairTime> window;
  std::optional<PairTime> bounded;
};

std::optional<double> ms_of(const std::optional<PairTime>& time) {
  return time ? std::optional(time->ms) : std::nullopt;
}

/// `ms` over a time, if there is one.
std::optional<double> over(double ms, const std::optional<PairTime>& time) {
  return time ? std::optional(ms / time->ms) : std::nullopt;
}

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
  times.passes = bench::decode_time(picture, block, DecoderMode::fast, device);
  if (device.backend == Backend::opencl) {
    times.passes_global = bench::decode_time(picture, block, DecoderMode::fast, device, PassMemory::global);
  }
  times.window = bench::render_time(picture, block, bench::window_options(side, picture.window_px), device);
  times.bounded = bench::render_time(picture, block, {}, device);
  return times;
}

/// Sets the times that not every device has.
void add_times(nlohmann::json& json, const BlockTimes& times) {
  bench::set(json, "passes_global_ms", ms_of(times.passes_global));
  bench::set(json, "window_ms", ms_of(times.window));
  bench::set(json, "bounded_ms", ms_of(times.bounded));
}

/// What the decoder takes for a block of 128 x 128 without any component.
double empty_list_ms(PictureModel picture, Device device) {
  picture.window_px = -1e9;
  return bench::decode_time(picture, middle_block(picture, 128), DecoderMode::fast, device).ms;
}

void print_table_2(const bench::TableOptions& options, const std::vector<PictureModel>& pictures,
                   nlohmann::json& results) {
  fmt::print(
      "\nTable 2: a block of 128 x 128 pixels, milliseconds; published on a Core i7-5960X and a GTX Titan X\n\n");
  std::vector<std::vector<std::string>> rows = {{"model", "components", "C++", "Quasar", "Quasar SM", "OpenCL",
                                                 "serial here", "11 a pass here", "slow", "no local memory",
                                                 "window here", "bounded here", "serial / window", "Quasar SM / window",
                                                 "OpenCL / window", "OpenCL / 11 a pass"}};
  for (std::size_t i = 0; i < pictures.size(); ++i) {
    const PublishedBlock& published = table_2[i];
    const BlockTimes times = block_times(pictures[i], 128, options.device, !options.small);
    const double slow =
        bench::decode_time(pictures[i], middle_block(pictures[i], 128), DecoderMode::slow, options.device).ms;
    rows.push_back(
        {pictures[i].name, std::to_string(times.components), three_digits(1e3 * published.serial),
         three_digits(1e3 * published.quasar), three_digits(1e3 * published.quasar_shared),
         three_digits(1e3 * published.opencl), three_digits(times.serial), three_digits(times.passes.ms),
         three_digits(slow), cell(ms_of(times.passes_global)), cell(ms_of(times.window)), cell(ms_of(times.bounded)),
         cell(over(times.serial, times.window)), cell(over(1e3 * published.quasar_shared, times.window)),
         cell(over(1e3 * published.opencl, times.window)), three_digits(1e3 * published.opencl / times.passes.ms)});
    results["table_2"].push_back({{"model", pictures[i].name},
                                  {"components", times.components},
                                  {"published_serial_ms", 1e3 * published.serial},
                                  {"published_quasar_ms", 1e3 * published.quasar},
                                  {"published_quasar_shared_ms", 1e3 * published.quasar_shared},
                                  {"published_opencl_ms", 1e3 * published.opencl},
                                  {"serial_ms", times.serial},
                                  {"passes_ms", times.passes.ms},
                                  {"passes_slow_ms", slow}});
    add_times(results["table_2"].back(), times);
  }
  bench::print_table(rows);
  const double empty_ms = empty_list_ms(pictures[0], options.device);
  results["table_2_empty_list_ms"] = empty_ms;
  fmt::print(
      "\nSerial here: the paper's fast mode in float64 on one thread of this machine's CPU, for each pixel all of the "
      "block's\n"
      "components, scalar code, inverses made once; a light field's components as they are, in four dimensions. 11 a "
      "pass and\n"
      "slow: the paper's GPU decoder on {}, a thread a pixel, in float32, by inverses and by Cholesky and QR; from "
      "lists\n"
      "made before, as published; {} ms with an empty list. No local memory: the fast one, on OpenCL. Window and "
      "bounded here:\n"
      "SmoeRenderer, slicing of light fields and selection included. Ratios below 1: the published decoder on its card "
      "of 2015\n"
      "is faster than the column here.\n",
      to_string(options.device), three_digits(empty_ms));
}

void print_figure_11(const bench::TableOptions& options, const std::vector<PictureModel>& pictures, double max_pairs,
                     nlohmann::json& results) {
  fmt::print("\nFigures 11 and 12 (figures only): one block by its size\n\n");
  std::vector<std::vector<std::string>> rows = {{"model", "block", "components", "serial ms", "11 a pass ms",
                                                 "no local ms", "window ms", "bounded ms", "serial ns/px",
                                                 "11 a pass ns/px", "no local ns/px", "window ns/px", "bounded ns/px",
                                                 "utilisation: 11 a pass", "no local memory", "window", "bounded"}};
  for (const auto& picture : pictures) {
    for (const auto side : block_sizes) {
      if (options.small && side > 128) continue;  // no such block in the smaller pictures
      const BlockTimes times = block_times(picture, side, options.device, false);
      const double a_pixel = 1e6 / static_cast<double>(side * side);
      const auto used = [&](const std::optional<PairTime>& time) {
        return time ? std::optional(time->pairs / (1e-3 * time->ms * max_pairs)) : std::nullopt;
      };
      const auto ns = [&](const std::optional<PairTime>& time) {
        return time ? std::optional(time->ms * a_pixel) : std::nullopt;
      };
      rows.push_back({picture.name, std::to_string(side), std::to_string(times.components), three_digits(times.serial),
                      three_digits(times.passes.ms), cell(ms_of(times.passes_global)), cell(ms_of(times.window)),
                      cell(ms_of(times.bounded)), three_digits(times.serial * a_pixel), cell(ns(times.passes)),
                      cell(ns(times.passes_global)), cell(ns(times.window)), cell(ns(times.bounded)),
                      cell(used(times.passes)), cell(used(times.passes_global)), cell(used(times.window)),
                      cell(used(times.bounded))});
      results["figure_11"].push_back({{"model", picture.name},
                                      {"block", side},
                                      {"components", times.components},
                                      {"serial_ms", times.serial},
                                      {"passes_ms", times.passes.ms}});
      auto& json = results["figure_11"].back();
      add_times(json, times);
      bench::set(json, "passes_utilisation", used(times.passes));
      bench::set(json, "passes_global_utilisation", used(times.passes_global));
      bench::set(json, "window_utilisation", used(times.window));
      bench::set(json, "bounded_utilisation", used(times.bounded));
    }
  }
  bench::print_table(rows);
  fmt::print(
      "\nAs in Table 2; serial: from at most 4 million pairs of pixel and component, for all of the block's pixels. "
      "Figure 12\n"
      "is Car's rows on two cards, all below the 40 ms that the paper asks of real time.\n");
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
/// Pairs of a pixel and a listed component a second over `max_pairs`.
double utilisation(const bench::FrameResult& frame, const PictureModel& picture, double max_pairs) {
  const auto pixels = static_cast<double>(picture.width * picture.height);
  return frame.kernels * pixels / (1e-3 * frame.ms * max_pairs);
}

/// A frame by the renderer and by the paper's decoder, both from windows of `window_px` around blocks of `side`.
nlohmann::json window_frames(PictureModel picture, std::int64_t side, double window_px, Device device,
                             double max_pairs) {
  picture.window_px = window_px;
  const auto to_json = [&](const bench::FrameResult& frame) {
    return nlohmann::json{{"kernels", frame.kernels},
                          {"ms", frame.ms},
                          {"error", frame.error},
                          {"utilisation", utilisation(frame, picture, max_pairs)}};
  };
  nlohmann::json json = {{"window_px", window_px}};
  if (const auto frame = bench::frame(picture, bench::window_options(side, window_px), device))
    json.update(to_json(*frame));
  if (const auto passes = bench::passes_frame(picture, side, device)) json["passes"] = to_json(*passes);
  if (device.backend == Backend::opencl) {
    const auto passes = bench::passes_frame(picture, side, device, PassMemory::global);
    if (passes) json["passes_global"] = to_json(*passes);
  }
  return json;
}

/// Cells of Table 4 for such frames, next to a published time.
std::vector<std::string> make_cells(const nlohmann::json& frames, double published_ms) {
  std::vector<std::string> cells{three_digits(frames["window_px"])};
  if (frames.contains("ms")) {
    const double ms = frames["ms"];
    cells.insert(cells.end(), {fmt::format("{:.1f}", double(frames["kernels"])), three_digits(ms),
                               three_digits(1e3 / ms), three_digits(published_ms / ms),
                               fmt::format("{:.1e}", double(frames["error"])), three_digits(frames["utilisation"])});
  } else {
    cells.insert(cells.end(), 6, "-");
  }
  for (const char* key : {"passes", "passes_global"}) {
    if (!frames.contains(key)) {
      cells.insert(cells.end(), 4, "-");
      continue;
    }
    const auto& passes = frames[key];
    const double ms = passes["ms"];
    cells.insert(cells.end(), {three_digits(ms), three_digits(published_ms / ms),
                               fmt::format("{:.1e}", double(passes["error"])), three_digits(passes["utilisation"])});
  }
  return cells;
}

/// `size`: column of the published times.
void print_frames(const bench::TableOptions& options, const PictureModel& picture, std::size_t size, double max_pairs,
                  nlohmann::json& results) {
  fmt::print("\nTable 4, {}: a frame, milliseconds; published on a GTX Titan X and a GTX 960M\n\n", describe(picture));
  std::vector<std::vector<std::string>> rows = {{"block", "kernels", "Titan X", "960M", "window px", "kernels here",
                                                 "here", "frames/s", "Titan X / here", "error", "utilisation",
                                                 "11 a pass", "Titan X / it", "error", "utilisation", "no local memory",
                                                 "Titan X / it", "error", "utilisation"}};
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
    const auto add = [&](const char* key, double window_px) {
      json[key] = window_frames(picture, side, window_px, options.device, max_pairs);
      const auto cells = make_cells(json[key], published.titan[size]);
      row.insert(row.end(), cells.begin(), cells.end());
      rows.push_back(row);
      row.assign(4, "");
    };
    if (const auto matching = matching_window(picture, side, published.kernels)) add("matching", *matching);
    add("at_16_px", 16);
    results["table_4"].push_back(json);
  }
  bench::print_table(rows);
  const auto bounded = bench::frame(picture, {}, options.device);
  if (!bounded) return;
  const auto& frame = *bounded;
  const double used = utilisation(frame, picture, max_pairs);
  fmt::print(
      "\nbounded, tolerance 0.25/255: {:.1f} components a tile, {} ms, {} frames/s ({} published at best), {} times "
      "as\n"
      "fast as the best published; utilisation {}; largest error {:.1e} against the sum of all components\n",
      frame.kernels, three_digits(frame.ms), three_digits(1e3 / frame.ms), size == 0 ? 85.5 : 22.5,
      three_digits(table_4[0].titan[size] / frame.ms), three_digits(used), frame.error);
  results["table_4"].push_back(
      {{"model", picture.name},
       {"size", {picture.width, picture.height}},
       {"bounded", {{"kernels", frame.kernels}, {"ms", frame.ms}, {"error", frame.error}, {"utilisation", used}}}});
}

void print_table_4(const bench::TableOptions& options, const std::string& fitted, double max_pairs,
                   nlohmann::json& results) {
  constexpr std::array<std::int64_t, 3> frames[] = {{1920, 1080, 169401}, {3840, 2160, 686763}};
  const std::int64_t share = options.small ? 8 : 1;
  for (std::size_t i = 0; i < std::size(frames); ++i) {
    const auto [width, height, count] = frames[i];
    if (count / (share * share) > options.max_points) continue;
    const auto picture = bench::seeded_model("seeded", 2, count / (share * share), width / share, height / share, 16);
    print_frames(options, picture, i, max_pairs, results);
  }
  for (std::size_t i = 0; i < std::size(frames); ++i) {
    const auto [width, height, count] = frames[i];
    if (fitted.empty() || count > options.max_points) continue;
    print_frames(options, bench::tiled_model(fitted, width, height), i, max_pairs, results);
  }
  fmt::print(
      "\nHere selection is included, published it is not, nor is it in 11 a pass, the paper's decoder ('-': too long "
      "on "
      "the CPU).\n"
      "No local memory: the same on OpenCL without it.\n"
      "Two rows a block: the window that gives as many components as published, left out where more than that stand in "
      "a block;\n"
      "and the paper's window for Car, 16 pixels. Kernels: mean over blocks, here over the renderer's tiles. Error: "
      "the "
      "largest at\n"
      "some hundred pixels, of windows against the same list's sum in float64. Utilisation: pairs of a pixel and a "
      "listed component\n"
      "a second over {:.3g} a second, {}.\n",
      max_pairs,
      bench::is_processor(options.device)
          ? "what this CPU's threads sum in the renderer's own loop without lists"
          : "one exponential each at 16 a clock and processor; what units issued takes hardware counters (ncu)");
}

}  // namespace

int main(int argc, char** argv) {
  std::string fitted;
  const auto add_options = [&](CLI::App& app) {
    app.add_option("--fitted", fitted, "Table 4 also for this model of a picture (.smoe), tiled as the paper does");
  };
  return bench::run_table_program(
      argc, argv,
      {"paper_avramelos", "Tables 1 to 4 and Figures 9, 11 and 12 of Avramelos et al., measured here",
       "Avramelos, Saenen, Verhack, Van Wallendael, Lambert, Sikora 2020", 169401, add_options},
      [&](const bench::TableOptions& options, nlohmann::json& results) {
        const auto pictures = bench::paper_pictures(options.small);
        const PictureModel& car = pictures[1];
        const double max_pairs = bench::max_pairs_per_s(options.device);
        results["max_pairs_per_s"] = max_pairs;
        print_table_1(options, car, results);
        print_differences(options, pictures, results);
        print_table_2(options, pictures, results);
        print_table_3(options, car, results);
        print_table_4(options, fitted, max_pairs, results);
        print_figure_9(options, results);
        print_figure_11(options, pictures, max_pairs, results);
      });
}

#include <algorithm>
#include <bench/avramelos_tables.hpp>
#include <cmath>
#include <fmt/format.h>
#include <holotone/core/parallel.hpp>
#include <mutex>

namespace bench {
namespace {

using holotone::Array;

constexpr int bit_depths[] = {8, 10, 12, 14, 16};

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

std::string max_bits(const std::array<std::int64_t, 5>& beyond) {
  int bits = 0;
  for (std::size_t i = 0; i < beyond.size() && beyond[i] == 0; ++i) bits = bit_depths[i];
  return bits == 0 ? "-" : fmt::format("{}-bit", bits);
}

void add_precision_row(std::vector<std::vector<std::string>>& rows, nlohmann::json& results, const std::string& name,
                       const Precision& precision) {
  const auto count = static_cast<double>(precision.pixels);
  const double mse = precision.luminance / count;
  const double rmse = std::sqrt(precision.squares / (3 * count));
  std::vector<std::string> row{name,
                               fmt::format("{:.2e}", mse),
                               fmt::format("{:.2e}", rmse),
                               fmt::format("{:.2e}", precision.largest),
                               max_bits(precision.beyond_rule),
                               max_bits(precision.beyond_error)};
  for (const auto beyond : precision.beyond_error) row.push_back(std::to_string(beyond));
  rows.push_back(row);
  results["table_1"].push_back({{"mode", name},
                                {"luminance_mse", mse},
                                {"rmse", rmse},
                                {"largest", precision.largest},
                                {"pixels_beyond_rule", precision.beyond_rule},
                                {"pixels_beyond_error", precision.beyond_error}});
}

/// Methods of Table 1, in its order: three on the CPU, pixel by pixel, and pictures of the device.
constexpr const char* method_names[] = {"fast, float32",   "slow, float32",     "fast, float64",      "11 a pass, fast",
                                        "11 a pass, slow", "SmoeRenderer fast", "SmoeRenderer robust"};
constexpr std::size_t method_count = std::size(method_names);
constexpr std::size_t first_picture = 3;
using Precisions = std::array<Precision, method_count>;
using Pictures = std::array<Array<float, 3>, method_count - first_picture>;

Precisions precisions_of(const PictureModel& car, const PixelBlock& block, const Pictures& pictures) {
  const auto list = window_list(car.model, block, car.window_px);
  AvramelosDecoder<double, 2> truth(car.model, list, DecoderMode::slow);
  AvramelosDecoder<float, 2> fast32(car.model, list, DecoderMode::fast);
  AvramelosDecoder<float, 2> slow32(car.model, list, DecoderMode::slow);
  AvramelosDecoder<double, 2> fast64(car.model, list, DecoderMode::fast);
  Precisions precisions;
  for (std::int64_t row = block.top; row < block.top + block.height; ++row) {
    for (std::int64_t column = block.left; column < block.left + block.width; ++column) {
      const std::array<double, 2> x{static_cast<double>(column) + 0.5, static_cast<double>(row) + 0.5};
      const auto expected = truth.at(x);
      precisions[0].add(fast32.at(x), expected);
      precisions[1].add(slow32.at(x), expected);
      precisions[2].add(fast64.at(x), expected);
      for (std::size_t i = 0; i < pictures.size(); ++i) {
        const auto& image = pictures[i];
        if (image.empty()) continue;
        precisions[first_picture + i].add(
            std::array{image(row, column, 0), image(row, column, 1), image(row, column, 2)}, expected);
      }
    }
  }
  return precisions;
}

/// The car as each method of the device has it; empty where the library has none.
Pictures render_pictures(const PictureModel& car, std::int64_t side, holotone::Device device) {
  auto window = window_options(side, car.window_px);
  auto fast = rendered(car, window, device);
  window.precision = holotone::SmoePrecision::robust;
  auto robust = rendered(car, window, device);
  return {decoded(car, side, DecoderMode::fast, device), decoded(car, side, DecoderMode::slow, device),
          fast ? std::move(*fast) : Array<float, 3>(), robust ? std::move(*robust) : Array<float, 3>()};
}

}  // namespace

void print_table_1(const TableOptions& options, const PictureModel& car, nlohmann::json& results) {
  constexpr std::int64_t side = 64;
  fmt::print("Table 1: precision with blocks of 64 pixels, {}\n\n", describe(car));
  const auto pictures = render_pictures(car, side, options.device);
  const std::int64_t across = car.width / side;
  Precisions all;
  std::mutex adding;
  holotone::parallel_for(0, across * (car.height / side), [&](std::int64_t i) {
    const auto found = precisions_of(car, {i % across * side, i / across * side, side, side}, pictures);
    const std::scoped_lock lock(adding);
    for (std::size_t k = 0; k < method_count; ++k) all[k].add(found[k]);
  });
  std::vector<std::vector<std::string>> rows = {{"mode", "luminance MSE", "RMSE", "largest error", "paper's rule",
                                                 "by error", "beyond 8", "10", "12", "14", "16"}};
  rows.push_back({"published, fast", "2.3891e-05", "-", "4.2367e-06", "14-bit", "-", "-", "-", "-", "-", "-"});
  rows.push_back({"published, slow", "2.4083e-05", "-", "4.5229e-06", "14-bit", "-", "-", "-", "-", "-", "-"});
  for (std::size_t k = 0; k < method_count; ++k) {
    if (all[k].pixels > 0) add_precision_row(rows, results, method_names[k], all[k]);
  }
  print_table(rows);
  fmt::print(
      "\nTruth: the paper's slow mode (Cholesky, QR) in float64 over each block's list, {} pixels of 3 channels. First "
      "three\n"
      "rows: the paper's decoder written for this table, on the CPU, matrices inverted once. 11 a pass: the paper's "
      "GPU "
      "decoder\n"
      "in float32 on {}, matrices inverted at every pixel, slow by Cholesky and QR. The last two: the library there, "
      "window\n"
      "around the same blocks. Paper's rule: most bits b of 8 to 16 where no pixel has a mean squared error of 2^-b or "
      "more; by\n"
      "error: where no colour is off by 2^-(b+1) or more; right: pixels that are. No mean square can exceed the square "
      "of the\n"
      "largest error, as the published columns have it: they are as printed.\n",
      all[0].pixels, to_string(options.device));
}

void print_differences(const TableOptions& options, const std::vector<PictureModel>& pictures,
                       nlohmann::json& results) {
  constexpr double most = 1e-4;  // float32 and native functions
  const auto backend = options.device.backend;
  if (backend == holotone::Backend::cpu) return;
  fmt::print("\nDifferences of 11 a pass from the same arithmetic on the CPU, relative to the largest colour\n\n");
  std::vector<std::vector<std::string>> rows = {{"model", "fast", "slow", "no local memory, fast", "slow"}};
  for (const auto& picture : pictures) {
    std::vector<std::string> row{picture.name};
    for (const auto memory : {PassMemory::local, PassMemory::global}) {
      if (memory == PassMemory::global && backend != holotone::Backend::opencl) continue;
      for (const auto mode : {DecoderMode::fast, DecoderMode::slow}) {
        const double difference = decode_difference(picture, mode, options.device, memory);
        if (difference > most) {
          throw std::runtime_error(fmt::format("{}: 11 a pass differs from the CPU's by {:.1e}, above {:.0e}",
                                               describe(picture), difference, most));
        }
        row.push_back(fmt::format("{:.1e}", difference));
        results["differences"].push_back({{"model", picture.name},
                                          {"mode", mode == DecoderMode::fast ? "fast" : "slow"},
                                          {"local_memory", memory == PassMemory::local},
                                          {"difference", difference}});
      }
    }
    rows.push_back(row);
  }
  print_table(rows);
}

}  // namespace bench

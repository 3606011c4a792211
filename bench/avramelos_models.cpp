#include <algorithm>
#include <bench/avramelos_models.hpp>
#include <bench/baselines/avramelos_mapped.hpp>
#include <bench/measure.hpp>
#include <fmt/format.h>
#include <fstream>
#include <holotone/core/error.hpp>
#include <holotone/core/parallel.hpp>
#include <holotone/core/random.hpp>
#include <holotone/smoe/codec.hpp>
#include <iterator>
#include <stdexcept>
#include <tests/cases/smoe.hpp>

namespace bench {
namespace {

using holotone::Array;
using holotone::Device;
using holotone::Queue;
using holotone::Shape;
using holotone::SmoeModel;
using holotone::SmoeRenderer;
using holotone::SmoeRenderOptions;
using holotone::SmoeSelection;
using holotone::SmoeView;

constexpr std::int64_t samples = 200;
constexpr double max_window_error = 1e-4;

SmoeView make_view(const PictureModel& picture, const PixelBlock& block) {
  return {{block.height, block.width},
          {static_cast<double>(block.left), static_cast<double>(block.top)},
          {static_cast<double>(block.width), static_cast<double>(block.height)},
          std::vector<double>(static_cast<std::size_t>(picture.model.dimensions - 2))};
}

/// The list of a block that is a picture of its own.
BlockLists make_list(const PictureModel& picture, const PixelBlock& block) {
  const auto list = window_list(picture.model, block, picture.window_px);
  return {block.width, {0, static_cast<std::int32_t>(list.size())}, {list.begin(), list.end()}};
}

SmoeModel read_model(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::vector<char> text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (!file) throw std::runtime_error(path + ": cannot be read");
  SmoeModel model = holotone::decode_smoe(std::as_bytes(std::span(text)), path);
  if (model.dimensions != 2 || model.channels != 3) throw std::runtime_error(path + ": expected a picture in colour");
  return model;
}

/// Appends component j of `from` with its centre at (x, y).
void append_moved(SmoeModel& to, const SmoeModel& from, std::size_t j, float x, float y) {
  to.log_weight.push_back(from.log_weight[j]);
  to.centre.push_back(x);
  to.centre.push_back(y);
  const auto add = [j](std::vector<float>& target, const std::vector<float>& source, std::size_t count) {
    for (std::size_t k = 0; k < count; ++k) target.push_back(source[j * count + k]);
  };
  add(to.covariance, from.covariance, 3);
  add(to.colour, from.colour, 3);
  add(to.slope, from.slope, 6);
}

/// Returns {row, column} of pseudo-random pixels.
std::vector<std::array<std::int64_t, 2>> sampled_pixels(const PictureModel& picture) {
  std::vector<std::array<std::int64_t, 2>> pixels;
  for (std::uint64_t i = 0; i < samples; ++i) {
    const auto below = [&](std::int64_t size, std::uint64_t axis) {
      return static_cast<std::int64_t>(holotone::random_uniform64(3 + axis, i) * static_cast<double>(size));
    };
    pixels.push_back({below(picture.height, 0), below(picture.width, 1)});
  }
  return pixels;
}

/// Reference colours {samples, 3}: sums over the window list of each pixel's block.
Array<float, 2> sums_in_windows(const PictureModel& picture, const SmoeRenderOptions& options,
                                const std::vector<std::array<std::int64_t, 2>>& pixels) {
  Array<float, 2> colours({samples, 3});
  holotone::parallel_for(0, samples, [&](std::int64_t i) {
    const auto [row, column] = pixels[static_cast<std::size_t>(i)];
    const std::int64_t side = options.window_block_px;
    const std::int64_t left = column / side * side;
    const std::int64_t top = row / side * side;
    const PixelBlock block{left, top, std::min(side, picture.width - left), std::min(side, picture.height - top)};
    AvramelosDecoder<double, 2> decoder(picture.model, window_list(picture.model, block, options.window_px),
                                        DecoderMode::slow);
    const auto decoded = decoder.at({static_cast<double>(column) + 0.5, static_cast<double>(row) + 0.5});
    for (std::int64_t c = 0; c < 3; ++c) colours(i, c) = static_cast<float>(decoded[static_cast<std::size_t>(c)]);
  });
  return colours;
}

/// Reference colours {samples, 3}: sums over all components.
Array<float, 2> sums_of_all(const PictureModel& picture, const std::vector<std::array<std::int64_t, 2>>& pixels) {
  Array<float, 2> colours({samples, 3});
  Array<float, 2> at({samples, 2});
  for (std::int64_t i = 0; i < samples; ++i) {
    const auto [row, column] = pixels[static_cast<std::size_t>(i)];
    at(i, 0) = static_cast<float>(static_cast<double>(column) + 0.5);
    at(i, 1) = static_cast<float>(static_cast<double>(row) + 0.5);
  }
  evaluate(picture.model, at.view(), colours.view());
  return colours;
}

double largest_error(const PictureModel& picture, const SmoeRenderOptions& options, const Array<float, 3>& image) {
  const auto pixels = sampled_pixels(picture);
  const bool window = options.selection == SmoeSelection::window;
  const auto expected = window ? sums_in_windows(picture, options, pixels) : sums_of_all(picture, pixels);
  double worst = 0;
  for (std::int64_t i = 0; i < samples; ++i) {
    const auto [row, column] = pixels[static_cast<std::size_t>(i)];
    for (std::int64_t c = 0; c < 3; ++c) {
      const double error = std::abs(static_cast<double>(image(row, column, c)) - static_cast<double>(expected(i, c)));
      worst = std::isnan(error) ? INFINITY : std::max(worst, error);
    }
  }
  return worst;
}

/// Largest error. Throws std::runtime_error if it is above what `options` allow.
double checked_error(const PictureModel& picture, const SmoeRenderOptions& options, const Array<float, 3>& image) {
  const double error = largest_error(picture, options, image);
  const double most = options.selection == SmoeSelection::window ? max_window_error : options.tolerance;
  if (error <= most) return error;
  throw std::runtime_error(fmt::format("{}: an error of {:.1e} is above {:.1e}", describe(picture), error, most));
}

/// What work() returns with a renderer of the picture; none if the library has none for these options on the device.
template <class Work>
auto with_renderer(const SmoeModel& model, const Queue& queue, const SmoeRenderOptions& options, const Work& work)
    -> std::optional<decltype(work(std::declval<SmoeRenderer&>()))> {
  try {
    SmoeRenderer renderer(model, queue, options);
    return work(renderer);
  } catch (const holotone::Error& error) {
    if (error.code() != holotone::ErrorCode::unsupported) throw;
    return std::nullopt;
  }
}

int count_rounds(Device device) { return is_processor(device) ? 1 : 5; }

}  // namespace

PictureModel seeded_model(const std::string& name, int dimensions, std::int64_t count, std::int64_t width,
                          std::int64_t height, double window_px) {
  return {name, cases::dense_smoe(dimensions, count, static_cast<double>(width), static_cast<double>(height)), width,
          height, window_px};
}

std::vector<PictureModel> paper_pictures(bool small) {
  const std::int64_t share = small ? 2 : 1;
  const auto model = [share](const char* name, int dimensions, std::int64_t count, std::int64_t width,
                             std::int64_t height, double window_px) {
    return seeded_model(name, dimensions, count / (share * share), width / share, height / share, window_px);
  };
  return {model("Lena 2D", 2, 2095, 512, 512, 64), model("Car 2D", 2, 21802, 512, 512, 16),
          model("Bikes 4D", 4, 8960, 626, 434, 32), model("Friends 4D", 4, 10080, 626, 434, 32)};
}

PictureModel tiled_model(const std::string& path, std::int64_t width, std::int64_t height) {
  const SmoeModel stored = read_model(path);
  PictureModel picture{"fitted, tiled", {}, width, height, 16};
  picture.model.low = stored.low;
  picture.model.high = {stored.low[0] + static_cast<double>(width), stored.low[1] + static_cast<double>(height), 1, 1};
  const double across = stored.high[0] - stored.low[0];
  const double down = stored.high[1] - stored.low[1];
  const auto times = [](std::int64_t side, double own_side) {
    return static_cast<std::int64_t>(std::ceil(static_cast<double>(side) / own_side));
  };
  const std::int64_t columns = times(width, across);
  for (std::int64_t place = 0; place < columns * times(height, down); ++place) {
    for (std::size_t j = 0; j < stored.log_weight.size(); ++j) {
      const double x = static_cast<double>(stored.centre[2 * j]) + static_cast<double>(place % columns) * across;
      const double y = static_cast<double>(stored.centre[2 * j + 1]) + static_cast<double>(place / columns) * down;
      if (x < picture.model.low[0] || x >= picture.model.high[0]) continue;
      if (y < picture.model.low[1] || y >= picture.model.high[1]) continue;
      append_moved(picture.model, stored, j, static_cast<float>(x), static_cast<float>(y));
    }
  }
  return picture;
}

PixelBlock middle_block(const PictureModel& picture, std::int64_t side) {
  return {picture.width / 2 / side * side, picture.height / 2 / side * side, side, side};
}

std::string describe(const PictureModel& picture) {
  return fmt::format("{}, {} components, {} x {} pixels", picture.name, picture.model.count(), picture.width,
                     picture.height);
}

SmoeRenderOptions window_options(std::int64_t side, double window_px) {
  SmoeRenderOptions options;
  options.selection = SmoeSelection::window;
  options.window_px = window_px;
  options.window_block_px = side;
  return options;
}

std::optional<Array<float, 3>> rendered(const PictureModel& picture, const SmoeRenderOptions& options, Device device) {
  const auto queue = Queue::create(device);
  return with_renderer(picture.model, queue, options, [&](SmoeRenderer& renderer) {
    Array<float, 3> image({picture.height, picture.width, 3}, queue);
    renderer.render(make_view(picture, {0, 0, picture.width, picture.height}), image.view());
    return image.to(Device{});
  });
}

Array<float, 3> decoded(const PictureModel& picture, std::int64_t side, DecoderMode mode, Device device) {
  const auto queue = Queue::create(device);
  const Shape<2> size{picture.height, picture.width};
  AvramelosPasses passes(picture.model, window_lists(picture.model, size, side, picture.window_px),
                         {0, 0, picture.width, picture.height}, mode, queue);
  Array<float, 3> image({picture.height, picture.width, 3}, queue);
  passes.decode(image.view());
  return image.to(Device{});
}

std::optional<PairTime> render_time(const PictureModel& picture, const PixelBlock& block,
                                    const SmoeRenderOptions& options, Device device) {
  const auto queue = Queue::create(device);
  return with_renderer(picture.model, queue, options, [&](SmoeRenderer& renderer) {
    Array<float, 3> image({block.height, block.width, 3}, queue);
    const SmoeView view = make_view(picture, block);
    SmoeView other = view;
    for (auto& at : other.at) at += 1e-3;
    bool is_other = false;
    const double seconds =
        seconds_of(queue, 5, [&] { renderer.render((is_other = !is_other) ? other : view, image.view()); });
    return PairTime{1e3 * seconds,
                    renderer.info().components_per_tile * static_cast<double>(block.width * block.height)};
  });
}

PairTime decode_time(const PictureModel& picture, const PixelBlock& block, DecoderMode mode, Device device,
                     PassMemory memory) {
  const auto queue = Queue::create(device);
  AvramelosPasses passes(picture.model, make_list(picture, block), block, mode, queue, memory);
  Array<float, 3> image({block.height, block.width, 3}, queue);
  const double seconds = seconds_of(queue, count_rounds(device), [&] { passes.decode(image.view()); });
  return {1e3 * seconds, static_cast<double>(passes.pairs())};
}

double decode_difference(const PictureModel& picture, DecoderMode mode, Device device, PassMemory memory) {
  constexpr std::int64_t side = 32;
  // Two domains of 512 pixels that meet at column 64 of the picture, the last blocks padded both ways.
  const PixelBlock area{64 - 512, picture.height / 2, 512 + 144, 24};
  BlockLists lists{side, {0}, {}};
  for (std::int64_t column = 0; column < area.width; column += side) {
    const auto list = window_list(picture.model, {area.left + column, area.top, side, side}, picture.window_px);
    lists.component.insert(lists.component.end(), list.begin(), list.end());
    lists.first.push_back(static_cast<std::int32_t>(lists.component.size()));
  }
  const auto decoded_on = [&](Device used_device, PassMemory pass_memory) {
    const auto queue = Queue::create(used_device);
    AvramelosPasses passes(picture.model, lists, area, mode, queue, pass_memory);
    Array<float, 3> image({area.height, area.width, 3}, queue);
    passes.decode(image.view());
    return image.to(Device{});
  };
  const auto there = decoded_on(device, memory);
  const auto here = decoded_on(Device{}, PassMemory::local);
  double difference = 0;
  double largest = 0;
  for (std::int64_t row = 0; row < area.height; ++row) {
    for (std::int64_t column = -area.left; column < area.width; ++column) {  // outside the picture weights underflow
      for (std::int64_t c = 0; c < 3; ++c) {
        const auto expected = static_cast<double>(here(row, column, c));
        const double error = std::abs(static_cast<double>(there(row, column, c)) - expected);
        difference = std::isnan(error) ? INFINITY : std::max(difference, error);
        largest = std::max(largest, std::abs(expected));
      }
    }
  }
  return difference / largest;
}

double transfer_us(std::int64_t bytes, Device device, bool up) {
  const auto queue = Queue::create(device);
  const auto size = static_cast<std::size_t>(bytes);
  const HostMemory host(size, device);
  Array<std::byte, 1> there({bytes}, queue);
  return 1e6 * seconds_of(queue, 5, [&] {
           if (up) {
             copy_bytes(there.data(), device, host.data(), Device{}, size, queue);
           } else {
             copy_bytes(host.data(), Device{}, there.data(), device, size, queue);
           }
           queue.synchronize();
         });
}

std::optional<double> mapped_us([[maybe_unused]] std::int64_t bytes, [[maybe_unused]] Device device,
                                [[maybe_unused]] bool up) {
#if HOLOTONE_OPENCL
  if (device.backend == holotone::Backend::opencl && bytes > 0) {
    const auto queue = Queue::create(device);
    std::vector<float> values(static_cast<std::size_t>(bytes) / sizeof(float));
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 4093);
    std::vector<float> back(values.size());
    MappedBuffer there(std::ssize(values), queue);
    there.upload(values);
    there.download(back);
    if (values != back) throw std::runtime_error("MappedBuffer: the values that came back are not those that went");
    return 1e6 * seconds_of(queue, 5, [&] { up ? there.upload(values) : there.download(back); });
  }
#endif
  return std::nullopt;
}

std::optional<RendererTransfers> renderer_transfers(const SmoeModel& model, const std::vector<std::int64_t>& list,
                                                    const Shape<2>& size, Device device) {
  constexpr int rounds = 7;
  SmoeModel part;
  part.low = model.low;
  part.high = model.high;
  for (const auto j : list) {
    const auto at = static_cast<std::size_t>(j);
    append_moved(part, model, at, model.centre[2 * at], model.centre[2 * at + 1]);
  }
  const auto queue = Queue::create(device);
  const Array<float, 3> picture({size[0], size[1], 3}, queue);
  const Array<std::uint8_t, 3> codes({size[0], size[1], 3}, queue);
  const auto median_us = [&](const auto& prepared, const auto& work) {
    std::vector<double> times;
    for (int round = 0; round < rounds; ++round) {
      auto input = prepared();
      queue.synchronize();
      const Stopwatch clock;
      work(std::move(input));
      times.push_back(1e6 * clock.seconds());
    }
    std::nth_element(times.begin(), times.begin() + rounds / 2, times.end());
    return times[rounds / 2];
  };
  const auto nothing = [] { return 0; };
  if (!with_renderer(part, queue, {}, [](SmoeRenderer&) { return true; })) return std::nullopt;
  return RendererTransfers{median_us([&] { return part; },
                                     [&](SmoeModel picture_model) {
                                       const SmoeRenderer renderer(std::move(picture_model), queue);
                                       queue.synchronize();
                                     }),
                           median_us(nothing, [&](int) { (void)picture.to(Device{}); }),
                           median_us(nothing, [&](int) { (void)codes.to(Device{}); })};
}

double mean_in_windows(const PictureModel& picture, std::int64_t side, double window_px) {
  /// Number of pixels along an axis in blocks whose window contains the centre.
  const auto pixels = [&](float centre, std::int64_t size) {
    std::int64_t sum = 0;
    each_block_near(centre, size, side, window_px, [&](std::int64_t, std::int64_t listed) { sum += listed; });
    return static_cast<double>(sum);
  };
  double sum = 0;
  for (std::size_t j = 0; j < picture.model.log_weight.size(); ++j) {
    sum += pixels(picture.model.centre[2 * j], picture.width) * pixels(picture.model.centre[2 * j + 1], picture.height);
  }
  return sum / static_cast<double>(picture.width * picture.height);
}

std::optional<FrameResult> frame(const PictureModel& picture, const SmoeRenderOptions& options, Device device) {
  const auto queue = Queue::create(device);
  return with_renderer(picture.model, queue, options, [&](SmoeRenderer& renderer) {
    Array<float, 3> image({picture.height, picture.width, 3}, queue);
    const SmoeView view = make_view(picture, {0, 0, picture.width, picture.height});
    const auto work = [&] { renderer.render(view, image.view()); };
    FrameResult result;
    result.ms = 1e3 * seconds_of(queue, count_rounds(device), work);
    result.kernels = renderer.info().components_per_tile;
    result.error = checked_error(picture, options, image.to(Device{}));
    return result;
  });
}

std::optional<FrameResult> passes_frame(const PictureModel& picture, std::int64_t side, Device device,
                                        PassMemory memory) {
  constexpr double max_on_cpu = 2e7;  // pairs: a second
  const auto pixels = static_cast<double>(picture.width * picture.height);
  if (is_processor(device) && pixels * mean_in_windows(picture, side, picture.window_px) > max_on_cpu) {
    return std::nullopt;
  }
  const auto queue = Queue::create(device);
  const Shape<2> size{picture.height, picture.width};
  AvramelosPasses passes(picture.model, window_lists(picture.model, size, side, picture.window_px),
                         {0, 0, picture.width, picture.height}, DecoderMode::fast, queue, memory);
  Array<float, 3> image({picture.height, picture.width, 3}, queue);
  FrameResult result;
  result.ms = 1e3 * seconds_of(queue, count_rounds(device), [&] { passes.decode(image.view()); });
  result.kernels = static_cast<double>(passes.pairs()) / pixels;
  result.error = largest_error(picture, window_options(side, picture.window_px), image.to(Device{}));
  return result;
}

}  // namespace bench

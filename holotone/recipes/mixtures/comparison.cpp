#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <holotone/io/images/image.hpp>
#include <holotone/recipes/mixtures.hpp>
#include <holotone/recipes/mixtures/colours_detail.hpp>
#include <holotone/smoe/codes.hpp>
#include <holotone/smoe/render.hpp>
#include <numeric>

namespace holotone {
namespace {

template <class Code>
Image codes(View<const float, 3> colours, bool linear, int bits) {
  const auto& [ny, nx, channels] = colours.shape();
  const Shape<4> shape{1, ny, nx, channels};
  Array<Code, 3> codes(colours.shape());
  smoe_codes({colours.data(), shape}, View<Code, 4>(codes.data(), shape), {bits, linear, true});
  return {std::move(codes), {}};
}

/// Mean of (a - b)^2 over the colours.
double mean_square_error(View<const float, 3> a, View<const float, 3> b) {
  const auto flat = [](View<const float, 3> image) {
    const auto& [ny, nx, channels] = image.shape();
    return View<const float, 2>(image.data(), {ny, nx * channels});
  };
  return holotone::mean_square_error(flat(a), flat(b));
}

}  // namespace

Image mixtures::coded(View<const float, 3> colours, bool linear, int bits) {
  return bits == 8 ? codes<std::uint8_t>(colours, linear, bits) : codes<std::uint16_t>(colours, linear, bits);
}

double MixtureComparison::mean_psnr_db() const {
  return std::accumulate(each.begin(), each.end(), 0.0) / static_cast<double>(each.size());
}

std::int64_t MixtureComparison::worst() const { return std::min_element(each.begin(), each.end()) - each.begin(); }

ColourSimilarity MixtureComparison::mean_colours() const {
  ColourSimilarity mean;
  const double share = 1 / static_cast<double>(colours.size());
  for (const auto& colour : colours) {
    mean.psnr_y_db += share * colour.psnr_y_db;
    mean.psnr_cb_db += share * colour.psnr_cb_db;
    mean.psnr_cr_db += share * colour.psnr_cr_db;
    mean.psnr_ycbcr_db += share * colour.psnr_ycbcr_db;
    mean.ssim_y += share * colour.ssim_y;
  }
  return mean;
}

Shape<2> own_size(const SmoeModel& model) {
  const auto pixels = [&](std::size_t axis) {
    return std::max<std::int64_t>(
        1, static_cast<std::int64_t>(std::floor(std::min(model.high[axis] - model.low[axis], 65536.0) + 0.5)));
  };
  return {pixels(1), pixels(0)};
}

std::vector<double> view_position(const SmoeModel& model, const std::vector<double>& numbers) {
  const auto further = static_cast<std::size_t>(std::max(0, model.dimensions - 2));
  if (numbers.empty()) {
    std::vector<double> middle;
    for (std::size_t i = 2; i < 2 + further; ++i) middle.push_back(0.5 * (model.low[i] + model.high[i]));
    return middle;
  }
  if (numbers.size() != further) {
    throw_argument("view_position", "numbers",
                   further == 0   ? "a light field, not a model of two dimensions"
                   : further == 2 ? "two numbers such as 0.3,-0.5"
                                  : "one number",
                   fmt::format("'{:g}'", fmt::join(numbers, ",")));
  }
  return numbers;
}

MixtureComparison compare_mixture(const SmoeModel& model, std::span<const SmoeFitView> views, int bits,
                                  bool with_colours, const Queue& queue, Progress& progress) {
  constexpr std::string_view where = "compare_mixture";
  if (bits != 0 && bits != 8 && bits != 16) throw_argument(where, "bits", "0, 8 or 16", std::to_string(bits));
  if (views.empty()) throw_argument(where, "views", "one picture or more", "none");
  for (const auto& view : views) {
    if (view.image.size() == 0 || view.image.shape()[2] != model.channels) {
      throw_argument(where, "views", "pictures of the model's channels", "others");
    }
  }
  SmoeRenderer renderer(model, queue);
  MixtureComparison comparison;
  const auto count = static_cast<std::int64_t>(views.size());
  double sum = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    progress.step("measuring", i, count);
    const auto& view = views[static_cast<std::size_t>(i)];
    const auto& shape = view.image.shape();
    Array<float, 3> image(shape, queue.device());
    renderer.render({{shape[0], shape[1]}, {}, {}, view.at}, image.view());
    const auto picture = image.to(Device{});
    const auto measure = [&](View<const float, 3> a, View<const float, 3> b) {
      const double psnr = psnr_db(mean_square_error(a, b));
      comparison.each.push_back(psnr);
      if (with_colours) comparison.colours.push_back(colour_similarity(a, b));
      sum += std::pow(10, -0.1 * psnr) / static_cast<double>(count);
    };
    if (bits == 0) {
      measure(picture.view(), view.image);
      continue;
    }
    // Rounded to codes as in a file.
    const auto rounded = [&](View<const float, 3> values) {
      return to_float(mixtures::coded(values, model.linear, bits));
    };
    measure(rounded(picture.view()).view(), rounded(view.image).view());
  }
  comparison.psnr_db = psnr_db(sum);
  return comparison;
}

}  // namespace holotone

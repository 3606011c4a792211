#include "smoe_picture.hpp"
#include "values.hpp"
#include <algorithm>
#include <cmath>
#include <holotone/core/colour.hpp>
#include <holotone/core/parallel.hpp>
#include <limits>

namespace holotone::cli {
namespace {

template <class Code>
Array<Code, 3> codes_of(const Array<float, 3>& colours, bool linear, int bits) {
  const double levels = std::ldexp(1.0, bits) - 1;
  const double largest = std::numeric_limits<Code>::max();
  Array<Code, 3> codes(colours.shape());
  const std::int64_t row = colours.shape()[1] * colours.shape()[2];
  const int channels = static_cast<int>(colours.shape()[2]);
  const bool alpha = channels == 2 || channels == 4;
  parallel_for(0, colours.shape()[0], [&](std::int64_t y) {
    for (std::int64_t i = y * row; i < (y + 1) * row; ++i) {
      double value = static_cast<double>(colours.data()[i]);
      value = value > 0 ? std::min(value, 1.0) : 0;
      const bool is_light = linear && !(alpha && i % channels == channels - 1);
      if (is_light) value = linear_to_srgb(value);
      codes.data()[i] = static_cast<Code>(std::floor(std::floor(value * levels + 0.5) * largest / levels + 0.5));
    }
  });
  return codes;
}

}  // namespace

Shape<2> own_size(const SmoeModel& model) {
  const auto pixels = [&](std::size_t axis) {
    return std::max<std::int64_t>(
        1, static_cast<std::int64_t>(std::floor(std::min(model.high[axis] - model.low[axis], 65536.0) + 0.5)));
  };
  return {pixels(1), pixels(0)};
}

std::vector<double> view_of(const SmoeModel& model, const std::string& text) {
  const auto further = static_cast<std::size_t>(std::max(0, model.dimensions - 2));
  std::vector<double> view;
  if (text.empty()) {
    for (std::size_t i = 2; i < 2 + further; ++i) view.push_back(0.5 * (model.low[i] + model.high[i]));
    return view;
  }
  if (further == 0) reject("--view", "a light field, not a model of two dimensions", text);
  const std::string expected = further == 2 ? "two numbers such as 0.3,-0.5" : "one number";
  const auto pieces = list("--view", text, expected);
  if (pieces.size() != further) reject("--view", expected, text);
  for (const auto& piece : pieces) view.push_back(number_between("--view", piece, -1e6, 1e6));
  return view;
}

Array<float, 3> rendered(SmoeRenderer& renderer, const SmoeView& view) {
  Array<float, 3> image({view.size[0], view.size[1], renderer.model().channels});
  renderer.render(view, image.view());
  return image;
}

Image coded(const Array<float, 3>& colours, bool linear, int bits) {
  if (bits == 8) return {codes_of<std::uint8_t>(colours, linear, bits), {}};
  return {codes_of<std::uint16_t>(colours, linear, bits), {}};
}

double psnr_of(const Array<float, 3>& a, const Array<float, 3>& b) {
  double sum = 0;
  for (std::int64_t i = 0; i < a.size(); ++i) {
    const double difference = static_cast<double>(a.data()[i]) - static_cast<double>(b.data()[i]);
    sum += difference * difference;
  }
  return -10 * std::log10(sum / static_cast<double>(a.size()));
}

}  // namespace holotone::cli

#include <algorithm>
#include <cli/common/smoe_picture.hpp>
#include <cli/common/values.hpp>
#include <cmath>

namespace holotone::cli {
Shape<2> own_size(const SmoeModel& model) {
  const auto pixels = [&](std::size_t axis) {
    return std::max<std::int64_t>(
        1, static_cast<std::int64_t>(std::floor(std::min(model.high[axis] - model.low[axis], 65536.0) + 0.5)));
  };
  return {pixels(1), pixels(0)};
}

std::vector<double> view_numbers(std::string_view option, const std::string& text) {
  std::vector<double> numbers;
  for (const auto& piece : list(option, text, "numbers such as 0.3,-0.5")) {
    numbers.push_back(number_between(option, piece, -1e6, 1e6));
  }
  return numbers;
}

std::vector<double> view_of(const SmoeModel& model, const std::vector<double>& numbers, std::string_view option) {
  const auto further = static_cast<std::size_t>(std::max(0, model.dimensions - 2));
  if (numbers.empty()) {
    std::vector<double> middle;
    for (std::size_t i = 2; i < 2 + further; ++i) middle.push_back(0.5 * (model.low[i] + model.high[i]));
    return middle;
  }
  if (numbers.size() != further) {
    reject(option,
           further == 0   ? "a light field, not a model of two dimensions"
           : further == 2 ? "two numbers such as 0.3,-0.5"
                          : "one number",
           fmt::format("{:g}", fmt::join(numbers, ",")));
  }
  return numbers;
}

Array<float, 3> rendered(SmoeRenderer& renderer, const SmoeView& view, Device device, Progress& progress) {
  Array<float, 3> image({view.size[0], view.size[1], renderer.model().channels}, device);
  renderer.render(view, image.view(), progress);
  if (device == Device{}) return image;
  return image.to(Device{});
}

Array<float, 3> rendered(SmoeRenderer& renderer, const SmoeView& view, Device device,
                         const std::optional<SmoeAperture>& aperture, Progress& progress) {
  if (!aperture) return rendered(renderer, view, device, progress);
  Array<float, 3> image({view.size[0], view.size[1], renderer.model().channels});
  render_aperture(renderer, view, *aperture, image.view(), device, progress);
  return image;
}

}  // namespace holotone::cli

#include <cli/common/smoe_picture.hpp>
#include <cli/common/values.hpp>

namespace holotone::cli {
std::vector<double> view_numbers(std::string_view option, const std::string& text) {
  std::vector<double> numbers;
  for (const auto& piece : list(option, text, "numbers such as 0.3,-0.5")) {
    numbers.push_back(number_between(option, piece, -1e6, 1e6));
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

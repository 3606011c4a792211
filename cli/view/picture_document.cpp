#include <algorithm>
#include <cli/common/picture_file.hpp>
#include <cli/info/info_metadata.hpp>
#include <cli/options/values.hpp>
#include <cli/view/control.hpp>
#include <cli/view/picture_document.hpp>
#include <cmath>
#include <holotone/core/colour.hpp>
#include <holotone/core/parallel.hpp>

namespace holotone::cli {
namespace {

/// sRGB codes of float pixels, which are linear light, 1 white.
Image coded_light(const Array<float, 3>& light) {
  Array<std::uint8_t, 3> codes(light.shape());
  parallel_blocks(light.size(), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const double value = std::clamp(static_cast<double>(light.data()[i]), 0.0, 1.0);
      codes.data()[i] = std::isnan(value) ? 0 : static_cast<std::uint8_t>(std::lround(255 * linear_to_srgb(value)));
    }
  });
  return {std::move(codes), {}};
}

}  // namespace

PictureDocument::PictureDocument(std::string path) : path_(std::move(path)) {
  Image image = read_picture_file({.quiet = true}, path_);
  const auto [ny, nx, channels] = shape_of(image);
  facts_ = {{"pixels", fmt::format("{} x {}", nx, ny)}, {"channels", std::to_string(channels)}};
  for (const auto& [key, text] : image.metadata) facts_.emplace_back(key_in_words(key), readable(key, text));
  for (const auto& note : image.notes) facts_.emplace_back("note", note);
  const auto* const light = std::get_if<Array<float, 3>>(&image.pixels);
  codes_ = light != nullptr ? coded_light(*light) : displayable(std::move(image));
  codes_.metadata.clear();
}

Raster PictureDocument::raster(const ViewRequest& request, Progress& /*progress*/) {
  if (request.view != "picture") reject_view(request.view);
  return {{std::get<Array<std::uint8_t, 3>>(codes_.pixels).to(Device{}), {}}, {}, {}};
}

ViewAnswer PictureDocument::show(const ViewRequest& request, Progress& progress) {
  return answer_of(raster(request, progress), request);
}

Image PictureDocument::thumbnail(Progress& progress) {
  return raster({.view = "picture", .state = {}}, progress).image;
}

nlohmann::json PictureDocument::description() const {
  return {{"name", path_},
          {"kind", "picture"},
          {"facts", facts_},
          {"views", {view_json("picture", "Picture", "picture")}},
          {"controls", nlohmann::json::object()}};
}

}  // namespace holotone::cli

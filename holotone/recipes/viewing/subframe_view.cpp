#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/recipes/viewing/subframe_view.hpp>
#include <utility>

namespace holotone {

SubframeView::SubframeView(std::vector<HologramSources> subframes, HologramViewOptions options)
    : HologramView(options.viewing),
      subframes_(std::move(subframes)),
      view_options_(std::move(options)),
      first_(open_hologram({subframes_.front()}, view_options_)) {
  describe(*first_);
}

/// Subframes after the first are read again for each picture: their plans need not fit into the memory at once.
LightPicture SubframeView::picture(double distance_m, std::size_t frame, Progress& progress) {
  LightPicture sum = on_host(first_->picture(distance_m, frame, progress));
  unit_ = first_->unit();
  dark_ = first_->dark();
  const auto count = static_cast<float>(subframes_.size());
  for (auto& channel : sum.channels) {
    for (float& value : channel.host()) value /= count;
  }
  for (std::size_t subframe = 1; subframe < subframes_.size(); ++subframe) {
    progress.step("adding subframes", static_cast<std::int64_t>(subframe), std::ssize(subframes_));
    const auto view = open_hologram({subframes_[subframe]}, view_options_);
    if (view->grid().shape() != grid_.shape()) {
      throw_io(subframes_[subframe].front().path,
               fmt::format("{} x {} pixels as the first subframe", grid_.nx, grid_.ny),
               fmt::format("{} x {}", view->grid().nx, view->grid().ny));
    }
    const auto picture = on_host(view->picture(distance_m, frame, progress));
    const auto share = static_cast<float>(view->unit() / unit_) / count;
    for (std::size_t c = 0; c < sum.channels.size(); ++c) {
      float* const values = sum.channels[c].data();
      for (std::int64_t i = 0; i < sum.channels[c].size(); ++i) values[i] += share * picture.channels[c].data()[i];
    }
  }
  return sum;
}

}  // namespace holotone

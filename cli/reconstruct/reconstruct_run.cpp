#include <algorithm>
#include <cli/common/cancel.hpp>
#include <cli/common/npy_file.hpp>
#include <cli/common/values.hpp>
#include <cli/reconstruct/eye_view.hpp>
#include <cli/reconstruct/lens_view.hpp>
#include <cli/reconstruct/picture_maker.hpp>
#include <cli/reconstruct/plane_view.hpp>
#include <cli/reconstruct/reconstruct_run.hpp>
#include <cli/reconstruct/subframe_view.hpp>
#include <cmath>
#include <holotone/core/units.hpp>
#include <holotone/optics/contact_sheet.hpp>
#include <holotone/recipes/metadata_keys.hpp>
#include <memory>
#include <utility>

namespace holotone::cli {
namespace {

/// Reconstructs all pictures of one hologram, or of three as colours.
class Run {
 public:
  explicit Run(const ReconstructJob& job)
      : job_(job), view_(open_hologram(job)), maker_(job, *view_), bar_(job.console) {
    distances_m_ = job.distances_m;
    if (distances_m_.empty()) distances_m_ = {view_->stated_distance_m()};
    distances_m_.resize(frame_count(job), distances_m_.front());
  }

  void make() {
    if (!job_.against.empty()) comparison_ = std::make_unique<Comparison>(job_, *view_);
    survey();
    if (!job_.sheet.empty()) {
      if (job_.contact_sheet) {
        write_sheet();
      } else {
        write_picture(job_.sheet, last_, 0);
      }
    }
    write_frames();
    if (comparison_) compare();
    check_cancelled("writing");
  }

  /// Intensity of white; writes nothing.
  [[nodiscard]] double brightest() {
    survey();
    return white_;
  }

  [[nodiscard]] Reconstruction seen() const {
    Reconstruction seen{job_.inputs,
                        outputs_,
                        distances_m_,
                        {},
                        view_->grid(),
                        view_->encoding(),
                        view_->filter(),
                        {},
                        view_->metadata().count("software") != 0,
                        white_,
                        view_->light_shares(),
                        {},
                        view_->dark(),
                        {},
                        maker_.beyond_float(),
                        comparisons_};
    for (const double d : distances_m_) seen.methods.emplace_back(to_string(view_->method_for(d)));
    const auto& metadata = view_->metadata();
    if (!job_.subframes.empty()) seen.inputs.clear();
    for (const auto& own : job_.subframes) seen.inputs.insert(seen.inputs.end(), own.begin(), own.end());
    seen.focal_length_m = checked_number(job_.inputs.front(), metadata, "focal_length_m");
    if (const auto entry = metadata.find("viewer"); entry != metadata.end()) seen.made_for = entry->second;
    if (const auto entry = metadata.find("correction"); entry != metadata.end()) seen.correction = entry->second;
    return seen;
  }

 private:
  /// Computes every frame once: keeps reduced pictures for the sheet, and the white shared by all frames.
  void survey() {
    view_->prepare(distances_m_, bar_);
    double brightest = 0;
    for (std::size_t i = 0; i < distances_m_.size(); ++i) {
      bar_.step("reconstructing", static_cast<std::int64_t>(i), static_cast<std::int64_t>(distances_m_.size()));
      last_ = maker_.values(distances_m_[i], i, bar_);
      brightest = std::max(brightest, maker_.white_of(last_));
      if (job_.contact_sheet) tiles_.push_back(tile_of(last_));
    }
    white_ = job_.white > 0 ? job_.white : brightest;
  }

  [[nodiscard]] Picture tile_of(const Picture& picture) const {
    const auto& grid = view_->grid();
    const std::int64_t width = std::min(job_.tile_width, grid.nx);
    const std::int64_t height = std::max<std::int64_t>(1, (grid.ny * width + grid.nx / 2) / grid.nx);
    Picture tile;
    for (const auto& channel : picture.channels) {
      const bool here = channel.device() == Device{};
      tile.channels.push_back(here ? area_average(channel.view(), {height, width})
                                   : area_average(channel.to(Device{}).view(), {height, width}));
    }
    return tile;
  }

  void write_sheet() {
    std::vector<View<const float, 2>> all;
    for (const auto& tile : tiles_) {
      for (const auto& channel : tile.channels) all.push_back(channel.view());
    }
    ContactSheetOptions options;
    options.tile_width = job_.tile_width;
    options.tone = maker_.tone(job_.white > 0 ? job_.white : 1);
    if (!(job_.white > 0)) options.tone.reference = white_of(all, job_.white_rule);
    for (std::size_t i = 0; i < distances_m_.size(); ++i) options.captions.push_back(caption_of(i));
    std::vector<Array<std::uint8_t, 2>> planes;
    for (std::size_t c = 0; c < tiles_.front().channels.size(); ++c) {
      std::vector<View<const float, 2>> channel;
      for (const auto& tile : tiles_) channel.push_back(tile.channels[c].view());
      planes.push_back(contact_sheet(channel, options));
    }
    white_ = job_.white > 0 ? job_.white : view_->unit() * static_cast<double>(options.tone.reference);
    Image image{interleaved(planes), maker_.metadata_of(white_, 0)};
    if (job_.pupils.size() > 1) {
      std::vector<double> x_m;
      std::vector<double> y_m;
      for (const auto& pupil : job_.pupils) {
        x_m.push_back(pupil.x_m);
        y_m.push_back(pupil.y_m);
      }
      set_metadata(image.metadata, "viewer_x_m", x_m);
      set_metadata(image.metadata, "viewer_y_m", y_m);
    }
    const auto& grid = view_->grid();
    const auto width = tiles_.front().channels.front().shape()[1];
    set_metadata(image.metadata, "pitch_m", grid.pitch_m * static_cast<double>(grid.nx) / static_cast<double>(width));
    set_metadata(image.metadata, "distances_m", distances_m_);
    write_output(job_.sheet, image);
  }

  /// Distance or position that distinguishes a frame of a sweep, in one unit for all.
  [[nodiscard]] std::string caption_of(std::size_t frame) const {
    double most = 0;
    if (job_.pupils.size() > 1) {
      for (const auto& pupil : job_.pupils) most = std::max({most, std::abs(pupil.x_m), std::abs(pupil.y_m)});
      return place_text(job_.pupils[frame], most);
    }
    for (const double distance : distances_m_) most = std::max(most, std::abs(distance));
    return format_length(distances_m_[frame], most);
  }

  void write_frames() {
    for (std::size_t i = 0; job_.frames && i < distances_m_.size(); ++i) {
      bar_.step("writing frames", static_cast<std::int64_t>(i), static_cast<std::int64_t>(distances_m_.size()));
      // Recomputing costs less than keeping every picture of a long sweep.
      if (distances_m_.size() > 1) last_ = maker_.values(distances_m_[i], i, bar_);
      write_picture(job_.frames->name(static_cast<std::int64_t>(i)), last_, i);
    }
  }

  void compare() {
    for (std::size_t i = 0; i < distances_m_.size(); ++i) {
      auto& own = comparisons_.emplace_back(comparison_->at(distances_m_[i], bar_));
      own.difference = job_.differences ? job_.differences->name(static_cast<std::int64_t>(i)) : job_.difference;
      if (own.difference.empty()) continue;
      Image image = comparison_->difference();
      image.metadata = maker_.source_metadata();
      set_metadata(image.metadata, "distance_m", distances_m_[i]);
      write(own.difference, image);
    }
  }

  void write_picture(const std::string& path, const Picture& picture, std::size_t index) {
    write_output(path, maker_.image(picture, white_, distances_m_[index], index));
  }

  void write_output(const std::string& path, const Image& image) {
    write(path, image);
    outputs_.push_back(path);
  }

  void write(const std::string& path, const Image& image) const {
    check_cancelled("writing");
    UnfinishedRun::will_write(path);
    if (extension_of(path) == ".npy") {
      write_npy(path, std::get<Array<float, 3>>(image.pixels));
    } else {
      write_image(path, image, job_.writing);
    }
  }

  const ReconstructJob& job_;
  std::unique_ptr<HologramView> view_;
  PictureMaker maker_;
  ProgressBar bar_;
  std::vector<double> distances_m_;
  std::vector<Picture> tiles_;
  Picture last_;
  double white_ = 0;
  std::vector<std::string> outputs_;
  std::unique_ptr<Comparison> comparison_;
  std::vector<PictureComparison> comparisons_;
};

/// Reconstructs numbered holograms to pictures with the same numbers and one white.
Reconstruction reconstruct_sequence(const ReconstructJob& job,
                                    const std::function<void(const Reconstruction&)>& opened) {
  ProgressBar bar(job.console);
  const auto count = static_cast<std::int64_t>(job.sequence.size());
  const auto one = [&](const SequenceFrame& frame, double white) {
    ReconstructJob single = job;
    single.inputs = frame.inputs;
    single.sheet = job.frames->name(frame.number);
    single.frames.reset();
    if (job.differences) single.difference = job.differences->name(frame.number);
    single.differences.reset();
    single.white = white;
    single.console.quiet = true;  // this bar counts the holograms
    return single;
  };
  bool reported = false;
  const auto report_opened = [&](const Run& run) {
    if (!std::exchange(reported, true)) opened(run.seen());
  };
  double white = job.white;
  for (std::int64_t i = 0; i < count && job.white == 0 && !job.linear; ++i) {
    ReconstructJob single = one(job.sequence[static_cast<std::size_t>(i)], 0);
    single.against.clear();  // only the second pass compares
    Run run(single);
    report_opened(run);
    bar.step("looking for the brightest", i, count);
    white = std::max(white, run.brightest());
  }
  Reconstruction all;
  for (std::int64_t i = 0; i < count; ++i) {
    const ReconstructJob single = one(job.sequence[static_cast<std::size_t>(i)], white);
    Run run(single);
    report_opened(run);
    bar.step("reconstructing", i, count);
    run.make();
    Reconstruction seen = run.seen();
    if (i == 0) {
      all = std::move(seen);
      continue;
    }
    const auto append = [](auto& target, const auto& more) { target.insert(target.end(), more.begin(), more.end()); };
    append(all.inputs, seen.inputs);
    append(all.outputs, seen.outputs);
    append(all.distances_m, seen.distances_m);
    append(all.methods, seen.methods);
    append(all.light_shares, seen.light_shares);
    append(all.dark, seen.dark);
    append(all.comparisons, seen.comparisons);
    all.beyond_float = std::max(all.beyond_float, seen.beyond_float);
  }
  return all;
}

}  // namespace

std::unique_ptr<HologramView> open_hologram(const ReconstructJob& job) {
  if (!job.subframes.empty()) return std::make_unique<SubframeView>(job, open_hologram);
  if (!job.pupils.empty()) {
    auto eye = std::make_unique<EyeView>(job);
    if (has_lens(eye->metadata())) {
      reject("--viewer", "a hologram without the focal_length_m of a lens", job.inputs.front());
    }
    return eye;
  }
  auto lights = lights_of(job);
  if (has_lens(lights.front().metadata)) return std::make_unique<LensView>(job, std::move(lights));
  return std::make_unique<PlaneView>(job, std::move(lights));
}

Reconstruction reconstruct(const ReconstructJob& job, const std::function<void(const Reconstruction&)>& opened) {
  if (!job.sequence.empty()) return reconstruct_sequence(job, opened);
  Run run(job);
  opened(run.seen());
  run.make();
  return run.seen();
}

}  // namespace holotone::cli

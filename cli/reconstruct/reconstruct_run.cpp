#include <algorithm>
#include <cli/common/cancel.hpp>
#include <cli/options/values.hpp>
#include <cli/reconstruct/reconstruct_run.hpp>
#include <cmath>
#include <holotone/core/units.hpp>
#include <holotone/io/file_format_detail.hpp>
#include <holotone/io/npy_image_detail.hpp>
#include <holotone/optics/contact_sheet.hpp>
#include <holotone/recipes/metadata_keys.hpp>
#include <holotone/recipes/viewing/picture_maker.hpp>
#include <iterator>
#include <memory>
#include <utility>

namespace holotone::cli {
namespace {

/// Reconstructs all pictures of one hologram, or of three as colours.
class ReconstructionRun {
 public:
  explicit ReconstructionRun(const ReconstructJob& job)
      : job_(job),
        view_(open_holograms(job)),
        maker_(job.tones, *view_),
        bar_(job.console),
        distances_m_(view_->distances_m()) {}

  void make() {
    if (!job_.against.empty()) comparison_ = open_comparison(job_, *view_);
    survey();
    if (!job_.sheet.empty()) {
      if (job_.has_contact_sheet()) {
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
    Reconstruction seen{.inputs = job_.holograms.inputs,
                        .outputs = outputs_,
                        .distances_m = distances_m_,
                        .grid = view_->grid(),
                        .wavelengths_m = {view_->wavelengths_m().begin(), view_->wavelengths_m().end()},
                        .encoding = view_->encoding(),
                        .filter = view_->filter(),
                        .notes = view_->notes(),
                        .describes_itself = view_->metadata().count("software") != 0,
                        .white = white_,
                        .light_shares = view_->light_shares(),
                        .dark = view_->dark(),
                        .beyond_float = maker_.beyond_float(),
                        .comparisons = comparisons_};
    for (const double d : distances_m_) seen.methods.emplace_back(to_string(view_->method_for(d)));
    const auto& metadata = view_->metadata();
    if (!job_.holograms.subframes.empty()) seen.inputs.clear();
    for (const auto& files : job_.holograms.subframes)
      seen.inputs.insert(seen.inputs.end(), files.begin(), files.end());
    seen.focal_length_m = checked_number(view_->path(), metadata, "focal_length_m");
    if (metadata.contains("distances_m")) seen.planes_m = checked_numbers(view_->path(), metadata, "distances_m");
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
      if (job_.has_contact_sheet()) tiles_.push_back(make_tile(last_));
    }
    white_ = job_.tones.white.value_or(brightest);
  }

  [[nodiscard]] LightPicture make_tile(const LightPicture& picture) const {
    const auto& grid = view_->grid();
    const std::int64_t width = std::min(job_.tile_width, grid.nx);
    const std::int64_t height = std::max<std::int64_t>(1, (grid.ny * width + grid.nx / 2) / grid.nx);
    LightPicture tile;
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
    options.tone = maker_.tone(job_.tones.white.value_or(1));
    if (!job_.tones.white) options.tone.reference = white_level(all, job_.tones.white_rule);
    for (std::size_t i = 0; i < distances_m_.size(); ++i) options.captions.push_back(caption_of(i));
    std::vector<Array<std::uint8_t, 2>> planes;
    for (std::size_t c = 0; c < tiles_.front().channels.size(); ++c) {
      std::vector<View<const float, 2>> channel;
      for (const auto& tile : tiles_) channel.push_back(tile.channels[c].view());
      planes.push_back(contact_sheet(channel, options));
    }
    white_ = job_.tones.white.value_or(view_->unit() * static_cast<double>(options.tone.reference));
    Image image{interleaved(planes), maker_.make_metadata(white_, 0)};
    if (job_.viewing.pupils.size() > 1) {
      std::vector<double> x_m;
      std::vector<double> y_m;
      for (const auto& pupil : job_.viewing.pupils) {
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
    write_output(job_.sheet, std::move(image));
  }

  /// Distance or position that distinguishes a frame of a sweep, in one unit for all.
  [[nodiscard]] std::string caption_of(std::size_t frame) const {
    double most = 0;
    if (job_.viewing.pupils.size() > 1) {
      for (const auto& pupil : job_.viewing.pupils) most = std::max({most, std::abs(pupil.x_m), std::abs(pupil.y_m)});
      const auto& pupil = job_.viewing.pupils[frame];
      return fmt::format("{}, {}", format_length(pupil.x_m, most), format_length(pupil.y_m, most));
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
      auto& compared = comparisons_.emplace_back(
          ComparedPicture{comparison_->at(distances_m_[i], bar_), job_.holograms.inputs.front(), job_.against, {}});
      compared.difference = job_.difference_name(static_cast<std::int64_t>(i));
      if (compared.difference.empty()) continue;
      Image image{interleaved(comparison_->differences()), {}};
      image.metadata = maker_.source_metadata();
      set_metadata(image.metadata, "distance_m", distances_m_[i]);
      write(compared.difference, image);
    }
  }

  void write_picture(const std::string& path, const LightPicture& picture, std::size_t index) {
    write_output(path, maker_.image(picture, white_, distances_m_[index], index));
  }

  void write_output(const std::string& path, Image image) {
    write(path, image);
    outputs_.push_back(path);
  }

  void write(const std::string& path, Image& image) const {
    check_cancelled("writing");
    set_metadata(image.metadata, "software", "holotone " HOLOTONE_VERSION);
    set_metadata(image.metadata, "source", job_.holograms.inputs.front());
    UnfinishedRun::will_write(path);
    if (io::has_format(path, io::FileFormat::npy)) {
      io::write_npy(path, std::get<Array<float, 3>>(image.pixels));
    } else {
      write_image(path, image, job_.writing);
    }
  }

  const ReconstructJob& job_;
  std::unique_ptr<HologramView> view_;
  PictureMaker maker_;
  ProgressBar bar_;
  std::vector<double> distances_m_;
  std::vector<LightPicture> tiles_;
  LightPicture last_;
  double white_ = 0;
  std::vector<std::string> outputs_;
  std::unique_ptr<ViewComparison> comparison_;
  std::vector<ComparedPicture> comparisons_;
};

/// Reconstructs numbered holograms to pictures with the same numbers and one white.
Reconstruction reconstruct_sequence(const ReconstructJob& job,
                                    const std::function<void(const Reconstruction&)>& opened) {
  ProgressBar bar(job.console);
  const auto& sequence = job.holograms.sequence;
  const auto count = static_cast<std::int64_t>(sequence.size());
  const auto one = [&](const SequenceFrame& frame, std::optional<double> white) {
    ReconstructJob single = job;
    single.holograms.inputs = frame.inputs;
    single.sheet = job.frames->name(frame.number);
    single.frames.reset();
    single.against = numbered(job.against, frame.number);
    single.difference = {job.difference_name(frame.number), std::nullopt};
    single.tones.white = white;
    single.console.quiet = true;  // this bar counts the holograms
    return single;
  };
  bool reported = false;
  const auto report_opened = [&](const ReconstructionRun& run) {
    if (!std::exchange(reported, true)) opened(run.seen());
  };
  std::optional<double> white = job.tones.white;
  if (!white && !job.tones.linear) {
    double brightest = 0;
    for (std::int64_t i = 0; i < count; ++i) {
      ReconstructJob single = one(sequence[static_cast<std::size_t>(i)], {});
      single.against.clear();  // only the second pass compares
      ReconstructionRun run(single);
      report_opened(run);
      bar.step("looking for the brightest", i, count);
      brightest = std::max(brightest, run.brightest());
    }
    white = brightest;
  }
  Reconstruction all;
  for (std::int64_t i = 0; i < count; ++i) {
    const ReconstructJob single = one(sequence[static_cast<std::size_t>(i)], white);
    ReconstructionRun run(single);
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
    std::ranges::copy_if(seen.wavelengths_m, std::back_inserter(all.wavelengths_m), [&](double wavelength_m) {
      return std::ranges::find(all.wavelengths_m, wavelength_m) == all.wavelengths_m.end();
    });
    all.beyond_float = std::max(all.beyond_float, seen.beyond_float);
  }
  return all;
}

}  // namespace

Reconstruction reconstruct(const ReconstructJob& job, const std::function<void(const Reconstruction&)>& opened) {
  if (!job.holograms.sequence.empty()) return reconstruct_sequence(job, opened);
  ReconstructionRun run(job);
  opened(run.seen());
  run.make();
  return run.seen();
}

}  // namespace holotone::cli

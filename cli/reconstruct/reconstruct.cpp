#include <CLI/CLI.hpp>
#include <algorithm>
#include <cli/common/cancel.hpp>
#include <cli/common/command.hpp>
#include <cli/common/npy_file.hpp>
#include <cli/common/values.hpp>
#include <cli/common/viewer_option.hpp>
#include <cli/reconstruct/eye_view.hpp>
#include <cli/reconstruct/plane_view.hpp>
#include <cli/reconstruct/reconstruct_job.hpp>
#include <cmath>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/core/units.hpp>
#include <holotone/optics/contact_sheet.hpp>
#include <holotone/recipes/metadata_keys.hpp>
#include <memory>
#include <nlohmann/json.hpp>

namespace holotone::cli {
namespace {

/// What was looked at and written.
struct Seen {
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  std::vector<double> distances_m;
  std::vector<std::string> methods;  ///< one a distance
  FieldGrid grid;
  std::string encoding;
  std::string filter;
  std::string correction;         ///< that the codes contain
  bool describes_itself = false;  ///< the first file has metadata of Holotone's
  float white = 0;
  std::vector<double> light_shares;  ///< through each of the job's pupils
  std::string made_for;              ///< the viewer that the first file states
};

std::unique_ptr<HologramView> view_of(const ReconstructJob& job) {
  if (job.pupils.empty()) return std::make_unique<PlaneView>(job);
  return std::make_unique<EyeView>(job);
}

/// Everything that is made of one hologram, or of three.
class Run {
 public:
  explicit Run(const ReconstructJob& job) : job_(job), view_(view_of(job)), bar_(job.console) {
    distances_m_ = job.distances_m;
    if (distances_m_.empty()) distances_m_ = {view_->stated_distance_m()};
    distances_m_.resize(frame_count(job), distances_m_.front());
  }

  void make() {
    survey();
    if (!job_.sheet.empty()) {
      if (job_.contact_sheet) {
        write_sheet();
      } else {
        write_picture(job_.sheet, last_, 0);
      }
    }
    write_frames();
    check_cancelled("writing");
  }

  /// The intensity that would be white; nothing is written.
  [[nodiscard]] float brightest() {
    survey();
    return white_;
  }

  [[nodiscard]] Seen seen() const {
    Seen seen{job_.inputs,
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
              {}};
    for (const double d : distances_m_) seen.methods.emplace_back(to_string(view_->method_for(d)));
    const auto& metadata = view_->metadata();
    if (const auto entry = metadata.find("viewer"); entry != metadata.end()) seen.made_for = entry->second;
    if (const auto entry = metadata.find("correction"); entry != metadata.end()) seen.correction = entry->second;
    return seen;
  }

 private:
  /// Looks at every distance once: keeps small pictures for the sheet, and the white that all frames share.
  void survey() {
    float brightest = 0;
    for (std::size_t i = 0; i < distances_m_.size(); ++i) {
      bar_.step("reconstructing", static_cast<std::int64_t>(i), static_cast<std::int64_t>(distances_m_.size()));
      last_ = view_->picture(distances_m_[i], i, bar_);
      brightest = std::max(brightest, white_of(last_, job_.white_rule));
      if (job_.contact_sheet) tiles_.push_back(tile_of(last_));
    }
    white_ = job_.white > 0 ? job_.white : brightest;
  }

  [[nodiscard]] Picture tile_of(const Picture& picture) const {
    const auto& grid = view_->grid();
    const std::int64_t width = std::min(job_.tile_width, grid.nx);
    const std::int64_t height = std::max<std::int64_t>(1, (grid.ny * width + grid.nx / 2) / grid.nx);
    Picture tile;
    for (const auto& channel : picture.channels) tile.channels.push_back(area_average(channel.view(), {height, width}));
    return tile;
  }

  void write_sheet() {
    std::vector<View<const float, 2>> all;
    for (const auto& tile : tiles_) {
      for (const auto& channel : tile.channels) all.push_back(channel.view());
    }
    ContactSheetOptions options;
    options.tile_width = job_.tile_width;
    options.tone.gamma = job_.gamma;
    options.tone.reference = job_.white > 0 ? job_.white : white_of(all, job_.white_rule);
    for (std::size_t i = 0; i < distances_m_.size(); ++i) options.captions.push_back(caption_of(i));
    std::vector<Array<std::uint8_t, 2>> planes;
    for (std::size_t c = 0; c < tiles_.front().channels.size(); ++c) {
      std::vector<View<const float, 2>> channel;
      for (const auto& tile : tiles_) channel.push_back(tile.channels[c].view());
      planes.push_back(contact_sheet(channel, options));
    }
    white_ = options.tone.reference;
    Image image{interleaved(planes), metadata_of(options.tone.reference, 0)};
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
    write(job_.sheet, image);
  }

  /// What a frame of a sweep differs in, in one unit for all.
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
      // Looking again costs less than keeping every picture of a long sweep.
      if (distances_m_.size() > 1) last_ = view_->picture(distances_m_[i], i, bar_);
      write_picture(job_.frames->name(static_cast<std::int64_t>(i)), last_, i);
    }
  }

  void write_picture(const std::string& path, const Picture& picture, std::size_t index) {
    Image image = job_.linear ? untoned(picture) : toned(picture, {white_, job_.gamma});
    image.metadata = metadata_of(white_, index);
    set_metadata(image.metadata, "distance_m", distances_m_[index]);
    write(path, image);
  }

  void write(const std::string& path, const Image& image) {
    check_cancelled("writing");
    UnfinishedRun::will_write(path);
    if (extension_of(path) == ".npy") {
      write_npy(path, std::get<Array<float, 3>>(image.pixels));
    } else {
      write_image(path, image);
    }
    outputs_.push_back(path);
  }

  [[nodiscard]] Metadata metadata_of(float white, std::size_t frame) const {
    Metadata metadata;
    set_metadata(metadata, "software", "holotone " HOLOTONE_VERSION);
    set_metadata(metadata, "source", job_.inputs.front());
    set_metadata(metadata, "pitch_m", view_->grid().pitch_m);
    set_metadata(metadata, "wavelength_m", view_->grid().wavelength_m);
    if (job_.aperture) {
      set_metadata(metadata, "aperture_x_m", job_.aperture->x_m);
      set_metadata(metadata, "aperture_y_m", job_.aperture->y_m);
      set_metadata(metadata, "aperture_diameter_m", job_.aperture->diameter_m);
      set_metadata(metadata, "viewer_distance_m", job_.aperture->distance_m);
    }
    if (!job_.pupils.empty()) describe_eye(metadata, pupil_of(job_, frame));
    if (!job_.linear) {
      set_metadata(metadata, "tone", "sRGB(min(1, intensity / white)^(1 / gamma))");
      set_metadata(metadata, "white", static_cast<double>(white));
      set_metadata(metadata, "gamma", job_.gamma);
    }
    return metadata;
  }

  const ReconstructJob& job_;
  std::unique_ptr<HologramView> view_;
  ProgressBar bar_;
  std::vector<double> distances_m_;
  std::vector<Picture> tiles_;
  Picture last_;
  float white_ = 0;
  std::vector<std::string> outputs_;
};

/// Numbered holograms to pictures with their numbers and one white.
Seen look_at_all(const ReconstructJob& job) {
  ProgressBar bar(job.console);
  const auto count = static_cast<std::int64_t>(job.sequence.size());
  const auto one = [&](const SequenceFrame& frame, float white) {
    ReconstructJob single = job;
    single.inputs = frame.inputs;
    single.sheet = job.frames->name(frame.number);
    single.frames.reset();
    single.white = white;
    single.console.quiet = true;  // this bar counts the holograms
    return single;
  };
  float white = job.white;
  for (std::int64_t i = 0; i < count && job.white == 0 && !job.linear; ++i) {
    bar.step("looking for the brightest", i, count);
    const ReconstructJob single = one(job.sequence[static_cast<std::size_t>(i)], 0);
    white = std::max(white, Run(single).brightest());
  }
  Seen all;
  for (std::int64_t i = 0; i < count; ++i) {
    bar.step("reconstructing", i, count);
    const ReconstructJob single = one(job.sequence[static_cast<std::size_t>(i)], white);
    Run run(single);
    run.make();
    Seen seen = run.seen();
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
  }
  return all;
}

std::vector<std::string> warnings_of(const Seen& seen) {
  std::vector<std::string> warnings;
  if (auto words = wavelength_warning(seen.grid.wavelength_m); !words.empty()) warnings.push_back(std::move(words));
  return warnings;
}

nlohmann::json json_of(const ReconstructJob& job, const Seen& seen, double seconds) {
  nlohmann::json object{{"software", "holotone " HOLOTONE_VERSION},
                        {"inputs", seen.inputs},
                        {"outputs", seen.outputs},
                        {"device", to_string(job.device)},
                        {"wavelength_m", seen.grid.wavelength_m},
                        {"pitch_m", seen.grid.pitch_m},
                        {"distances_m", seen.distances_m},
                        {"methods", seen.methods},
                        {"method", seen.methods.front()},
                        {"encoding", seen.encoding},
                        {"filter", seen.filter},
                        {"warnings", warnings_of(seen)},
                        {"time_s", seconds}};
  if (job.aperture) {
    object["aperture"] = {{"x_m", job.aperture->x_m},
                          {"y_m", job.aperture->y_m},
                          {"diameter_m", job.aperture->diameter_m},
                          {"viewer_distance_m", job.aperture->distance_m}};
  }
  for (std::size_t i = 0; i < seen.light_shares.size(); ++i) {
    object["viewers"].push_back(json_of_eye(pupil_of(job, i), seen.light_shares[i]));
  }
  if (!job.linear) {
    object["tone"] = {
        {"curve", "sRGB(min(1, intensity / white)^(1 / gamma))"}, {"white", seen.white}, {"gamma", job.gamma}};
  }
  return object;
}

/// "focus at 20 cm", "9 distances at 18 cm to 22 cm", "seen from 7 places"
std::string distances_text(const ReconstructJob& job, const std::vector<double>& distances_m) {
  if (job.pupils.size() > 1) return fmt::format("seen from {} places", job.pupils.size());
  const auto [near, far] = std::minmax_element(distances_m.begin(), distances_m.end());
  if (*near == *far) return fmt::format("focus at {}", format_length(*near));
  return fmt::format("{} distances at {} to {}", distances_m.size(), format_length(distances_m.front()),
                     format_length(distances_m.back()));
}

/// Whether an eye at the distance of the window that a hologram was made for reaches beyond it.
bool leaves_window(const std::string& made_for, const std::vector<EyePupil>& pupils) {
  Viewer window;
  try {
    window = viewer_of("viewer", made_for);
  } catch (const Error&) {
    return false;  // none, or a text that is no window
  }
  constexpr double alike = 0.05;
  return std::ranges::any_of(pupils, [&](const EyePupil& eye) {
    const auto leaves = [](double at, double size, double middle, double width) {
      return std::abs(at - middle) + size / 2 > width / 2 * (1 + 1e-9);
    };
    return std::abs(eye.distance_m - window.distance_m) <= alike * window.distance_m &&
           (leaves(eye.x_m, eye.width_m, window.x_m, window.width_m) ||
            leaves(eye.y_m, eye.height_m, window.y_m, window.height_m));
  });
}

int run_reconstruct(const ReconstructArguments& arguments) {
  const Stopwatch watch;
  const ReconstructJob job = reconstruct_job(arguments);
  const UnfinishedRun unfinished;
  Seen seen;
  if (job.sequence.empty()) {
    Run run(job);
    run.make();
    seen = run.seen();
  } else {
    seen = look_at_all(job);
  }
  check_cancelled("writing");
  UnfinishedRun::keep();
  report_json(job.console, json_of(job, seen, watch.seconds()));
  for (const auto& warning : warnings_of(seen)) warn(job.console, warning);
  if (job.pupils.empty() && !job.aperture && !seen.made_for.empty()) {
    remark(job.console,
           fmt::format(
               "made for the eyes of --viewer {}: without it all of the panel's light is seen, and codes put their "
               "noise beside that window",
               seen.made_for));
  }
  if (leaves_window(seen.made_for, job.pupils)) {
    remark(job.console,
           fmt::format("made for --viewer {}: an eye beyond that window sees little light, and noise", seen.made_for));
  }
  const auto& outputs = seen.outputs;
  report(
      job.console,
      fmt::format("{}: {} on {}, {}", outputs.size() == 1 ? outputs.front() : outputs.front() + " to " + outputs.back(),
                  distances_text(job, seen.distances_m), to_string(job.device), format_duration(watch.seconds())));
  if (!seen.correction.empty() && job.overrides.correction.empty()) {
    remark(job.console, fmt::format("the codes contain the correction {}; --correction takes it out as a panel would",
                                    seen.correction));
  }
  if (seen.correction.empty() && !job.overrides.correction.empty() && seen.describes_itself) {
    remark(job.console,
           fmt::format("{} states no correction in its codes; --correction has been taken out all the same",
                       job.inputs.front()));
  }
  return exit_ok;
}

void add_file_options(CLI::App& command, ReconstructArguments& arguments) {
  auto& overrides = arguments.overrides;
  command.add_option("--wavelength", overrides.wavelength, "Wavelength, instead of the file's; of three files R,G,B");
  command.add_option("--pitch", overrides.pitch, "Pixel pitch, instead of the file's");
  command.add_option("--panel", overrides.panel, "Pitch, bits and unequal steps of a preset, instead of the file's");
  command.add_option("--encode,--encoding", overrides.encoding,
                     "Encoding, instead of the file's: phase, amplitude, double-phase, single-sideband or burckhardt");
  command.add_option("--bits", overrides.bits, "Bits of a code, instead of the file's");
  auto* range = command.add_option("--phase-range", overrides.phase_range, "Phase stroke, instead of the file's");
  command.add_option("--lut,--levels", overrides.lut, "Text file: phase in radians of each code")->excludes(range);
  command.add_option("--amplitude-range", overrides.amplitude_range,
                     "MIN,MAX that the darkest and brightest code stand for, instead of the file's; of three "
                     "files also three pairs");
  command.add_option("--object-energy", overrides.object_energy,
                     "Of three files R,G,B: energy of the object in each, which balances the colours");
  command.add_option("--reference-angle", overrides.reference_angle, "Tilt X[,Y] of the reference beam");
  command.add_option("--carrier", overrides.carrier, "Blazed grating X[,Y] that the codes contain");
  command.add_flag("--packed16", overrides.packed16, "16-bit codes as red (high byte) and green (low byte)");
  command.add_option("--correction", overrides.correction, "Wavefront map to take out, as the panel it is for does");
  command.add_flag("--no-filter", overrides.no_filter, "All that leaves the panel, without the encoding's stop");
  command.add_flag("--zero-order", overrides.zero_order, "Amplitude holograms: with the undiffracted beam");
}

void add_look_options(CLI::App& command, ReconstructArguments& arguments) {
  auto* distance =
      command.add_option("--distance,--focus", arguments.distance, "Where to focus; default: the file's distance");
  auto* sweep = command.add_option("--sweep", arguments.sweep, "FROM:TO:COUNT distances, such as 18cm:22cm:9");
  sweep->excludes(distance);
  command.add_option(
      "--viewer", arguments.viewer,
      "What an eye sees there: DISTANCE:SIZE[@X,Y] such as 36mm:9.2mm@2,0mm; with --aperture its distance "
      "from the panel (50cm)");
  command
      .add_option("--sweep-viewer", arguments.sweep_viewer, "FROM:TO:COUNT places of the eye, such as -3,0mm:3,0mm:7")
      ->excludes(sweep);
  command.add_option("--pupil-shape", arguments.pupil_shape, "Of the eye's pupil: rectangle (default) or ellipse");
  command.add_option(
      "--picture-size", arguments.picture_size,
      "WIDTH or WIDTHxHEIGHT of the part that an eye sees of the plane it focuses on; default: the panel's size");
  command.add_option("--output-pitch", arguments.output_pitch,
                     "Of the picture that an eye sees; default: the panel's or a multiple, for at most 2048 pixels");
  command.add_option("--aperture", arguments.aperture, "Paraxial pupil X,Y:DIAMETER, such as 5mm,0mm:3mm");
  command.add_option("--method", arguments.method, "auto, angular-spectrum or fresnel")->capture_default_str();
  command.add_option("--device", arguments.device, "auto, cpu or cuda:N")->capture_default_str();
  command.add_option("--frames", arguments.frames,
                     "Each distance of a sweep as a picture of its own, such as out_%03d.png");
  command.add_option("--tile-width", arguments.tile_width, "Pixels across a picture of a contact sheet")
      ->capture_default_str();
  command.add_option("--white", arguments.white,
                     "Intensity shown white, or percentile (exceeded by a thousandth of the pixels; default), or "
                     "mean+deviation (default with --viewer DISTANCE:SIZE)");
  command.add_option("--gamma", arguments.gamma, "Above 1 lifts the shadows")->capture_default_str();
  command.add_flag("--linear", arguments.linear, "Write the intensity itself as float32 TIFF or NPY");
}

}  // namespace

void add_reconstruct(CLI::App& application, Action& action) {
  const auto arguments = std::make_shared<ReconstructArguments>();
  auto* command = application.add_subcommand("reconstruct", "What a camera or an eye sees of a hologram");
  command
      ->add_option("IN", arguments->inputs,
                   "A hologram, or three for red, green and blue (also out_%c.png); spin/%04d.png for moving pictures")
      ->required();
  command
      ->add_option("-o,--output", arguments->output,
                   "PNG, TIFF or BMP; a counter such as %03d for one picture a distance or hologram")
      ->required();
  add_look_options(*command, *arguments);
  add_file_options(*command, *arguments);
  add_console_options(*command, arguments->console);
  command->callback([arguments, &action] { action = [arguments] { return run_reconstruct(*arguments); }; });
}

}  // namespace holotone::cli

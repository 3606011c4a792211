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
#include <limits>
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
  double white = 0;
  std::vector<double> light_shares;  ///< through each of the job's pupils
  std::string made_for;              ///< the viewer that the first file states
  std::vector<std::string> dark;     ///< files without any light
  double beyond_float = 0;           ///< an intensity of --linear that float32 does not hold; 0: none
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
  [[nodiscard]] double brightest() {
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
              {},
              view_->dark(),
              beyond_float_};
    for (const double d : distances_m_) seen.methods.emplace_back(to_string(view_->method_for(d)));
    const auto& metadata = view_->metadata();
    if (const auto entry = metadata.find("viewer"); entry != metadata.end()) seen.made_for = entry->second;
    if (const auto entry = metadata.find("correction"); entry != metadata.end()) seen.correction = entry->second;
    return seen;
  }

 private:
  /// Looks at every distance once: keeps small pictures for the sheet, and the white that all frames share.
  void survey() {
    double brightest = 0;
    for (std::size_t i = 0; i < distances_m_.size(); ++i) {
      bar_.step("reconstructing", static_cast<std::int64_t>(i), static_cast<std::int64_t>(distances_m_.size()));
      last_ = view_->picture(distances_m_[i], i, bar_);
      brightest = std::max(brightest, view_->unit() * static_cast<double>(white_of(last_, job_.white_rule)));
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
    options.tone.reference = job_.white > 0 ? in_units(job_.white) : white_of(all, job_.white_rule);
    for (std::size_t i = 0; i < distances_m_.size(); ++i) options.captions.push_back(caption_of(i));
    std::vector<Array<std::uint8_t, 2>> planes;
    for (std::size_t c = 0; c < tiles_.front().channels.size(); ++c) {
      std::vector<View<const float, 2>> channel;
      for (const auto& tile : tiles_) channel.push_back(tile.channels[c].view());
      planes.push_back(contact_sheet(channel, options));
    }
    white_ = job_.white > 0 ? job_.white : view_->unit() * static_cast<double>(options.tone.reference);
    Image image{interleaved(planes), metadata_of(white_, 0)};
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
    Image image = job_.linear ? untoned(picture) : toned(picture, {in_units(white_), job_.gamma});
    if (job_.linear && view_->unit() != 1) take_units_out(image);
    image.metadata = metadata_of(white_, index);
    set_metadata(image.metadata, "distance_m", distances_m_[index]);
    write(path, image);
  }

  /// An intensity in the units of the pictures.
  [[nodiscard]] float in_units(double intensity) const {
    using Limits = std::numeric_limits<float>;
    return static_cast<float>(std::clamp(intensity / view_->unit(), double{Limits::min()}, double{Limits::max()}));
  }

  void take_units_out(Image& image) {
    for (float& value : std::get<Array<float, 3>>(image.pixels).host()) {
      const double intensity = view_->unit() * static_cast<double>(value);
      value = static_cast<float>(intensity);
      if (intensity > 0 && !std::isnormal(value)) beyond_float_ = std::max(beyond_float_, intensity);
    }
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

  [[nodiscard]] Metadata metadata_of(double white, std::size_t frame) const {
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
  double white_ = 0;
  double beyond_float_ = 0;
  std::vector<std::string> outputs_;
};

/// Numbered holograms to pictures with their numbers and one white.
Seen look_at_all(const ReconstructJob& job) {
  ProgressBar bar(job.console);
  const auto count = static_cast<std::int64_t>(job.sequence.size());
  const auto one = [&](const SequenceFrame& frame, double white) {
    ReconstructJob single = job;
    single.inputs = frame.inputs;
    single.sheet = job.frames->name(frame.number);
    single.frames.reset();
    single.white = white;
    single.console.quiet = true;  // this bar counts the holograms
    return single;
  };
  double white = job.white;
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
    append(all.dark, seen.dark);
    all.beyond_float = std::max(all.beyond_float, seen.beyond_float);
  }
  return all;
}

std::vector<std::string> warnings_of(const Seen& seen) {
  std::vector<std::string> warnings;
  if (auto words = wavelength_warning(seen.grid.wavelength_m); !words.empty()) warnings.push_back(std::move(words));
  if (!seen.dark.empty()) {
    const auto more = std::ssize(seen.dark) - 1;
    warnings.push_back(fmt::format("{}{} holds no light: its picture is black", seen.dark.front(),
                                   more > 0 ? fmt::format(" (and {})", counted(more, "other file")) : ""));
  }
  if (seen.beyond_float > 0) {
    warnings.push_back(
        fmt::format("intensities such as {:.3g} are beyond float32, 1.2e-38 to 3.4e38, in which --linear "
                    "writes them; a picture without --linear shows them",
                    seen.beyond_float));
  }
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
  if (job.pupils.size() > 1) return fmt::format("{} positions of the eye", job.pupils.size());
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

/// What the files themselves say of how they are looked at.
void tell_of_files(const ReconstructJob& job, const Seen& seen) {
  if (job.pupils.empty() && !job.aperture && !seen.made_for.empty()) {
    remark(job.console, fmt::format("the hologram was computed for --viewer {}; without that option the picture "
                                    "includes the quantization noise "
                                    "outside the window",
                                    seen.made_for));
  }
  if (leaves_window(seen.made_for, job.pupils)) {
    remark(job.console,
           fmt::format(
               "the hologram was computed for --viewer {}; outside that window there is little light and much noise",
               seen.made_for));
  }
  if (!seen.correction.empty() && job.overrides.correction.empty()) {
    remark(job.console,
           fmt::format("the codes contain the correction {}; --correction FILE subtracts it, as the panel does",
                       seen.correction));
  }
  if (seen.correction.empty() && !job.overrides.correction.empty() && seen.describes_itself) {
    remark(job.console, fmt::format("{} states no correction in its codes; --correction was subtracted nevertheless",
                                    job.inputs.front()));
  }
}

int run_reconstruct(const ReconstructArguments& arguments) {
  const Stopwatch watch;
  const ReconstructJob job = reconstruct_job(arguments);
  const UnfinishedRun unfinished;
  Seen seen;
  if (job.sequence.empty()) {
    Run run(job);
    tell_of_files(job, run.seen());
    run.make();
    seen = run.seen();
  } else {
    seen = look_at_all(job);
    tell_of_files(job, seen);
  }
  check_cancelled("writing");
  UnfinishedRun::keep();
  report_json(job.console, json_of(job, seen, watch.seconds()));
  for (const auto& warning : warnings_of(seen)) warn(job.console, warning);
  const auto& outputs = seen.outputs;
  report(
      job.console,
      fmt::format("{}: {} on {}, {}", outputs.size() == 1 ? outputs.front() : outputs.front() + " to " + outputs.back(),
                  distances_text(job, seen.distances_m), to_string(job.device), format_duration(watch.seconds())));
  return exit_ok;
}

std::vector<OptionRow> focus_options(ReconstructArguments& a) {
  return {{.names = "--distance,--focus",
           .target = &a.distance,
           .value = "LENGTH",
           .help = "Distance of the focus plane behind the panel; negative: in front",
           .otherwise = "the file's",
           .common = true,
           .feeds = "ReconstructionPlan.distance_m|EyePlan.focus_m|EyePlan.focus_m, output_pitch_m|"
                    "PropagationPlan.distance_m"},
          {.names = "--sweep",
           .target = &a.sweep,
           .value = "FROM:TO:COUNT",
           .help = "Focal stack on a contact sheet, such as 18cm:22cm:9",
           .common = true,
           .excludes = "--distance",
           .feeds = "ReconstructionPlan.distance_m|EyePlan.focus_m|EyePlan.focus_m, output_pitch_m|"
                    "PropagationPlan.distance_m"},
          {.names = "--frames",
           .target = &a.frames,
           .value = "NAME",
           .help = "Pictures of a sweep, one file each beside the contact sheet, such as out_%03d.png"},
          {.names = "--tile-width",
           .target = &a.tile_width,
           .value = "N",
           .help = "Pixels across one picture of a contact sheet",
           .range = tile_range,
           .feeds = "contact_sheet.tile_width|area_average."},
          {.names = "--method",
           .target = &a.method,
           .value = "NAME",
           .help = "Propagation: auto, angular-spectrum or fresnel"},
          {.names = "--device",
           .target = &a.device,
           .value = "NAME",
           .help = "auto, cpu or cuda:N",
           .common = true,
           .feeds = ".device"}};
}

std::vector<OptionRow> eye_options(ReconstructArguments& a) {
  return {{.names = "--aperture",
           .target = &a.aperture,
           .value = "PUPIL",
           .help = "Paraxial pupil X,Y:DIAMETER or DIAMETER, such as 5mm,0mm:3mm; --viewer is its distance",
           .common = true,
           .feeds = "ReconstructionPlan.aperture"},
          {.names = "--viewer",
           .target = &a.viewer,
           .value = "WINDOW",
           .help = "Pupil of an eye DISTANCE:SIZE[@X,Y] in front of the panel, such as 36mm:9.2mm@2,0mm; with "
                   "--aperture only the distance",
           .otherwise = "50cm with --aperture",
           .common = true,
           .feeds = "ReconstructionPlan.aperture.distance_m|EyePlan.pupil"},
          {.names = "--sweep-viewer",
           .target = &a.sweep_viewer,
           .value = "FROM:TO:COUNT",
           .help = "Positions of the eye on a contact sheet, such as -3,0mm:3,0mm:7",
           .excludes = "--sweep",
           .feeds = "EyePlan.pupil"},
          {.names = "--pupil-shape",
           .target = &a.pupil_shape,
           .value = "NAME",
           .help = "Shape of the eye's pupil: rectangle or ellipse",
           .otherwise = "rectangle"},
          {.names = "--picture-size",
           .target = &a.picture_size,
           .value = "SIZE",
           .help = "Width, or WIDTHxHEIGHT, of the eye's picture in the focus plane",
           .otherwise = "the panel's",
           .feeds = "EyePlan.focus_m, output_pitch_m"},
          {.names = "--output-pitch",
           .target = &a.output_pitch,
           .value = "LENGTH",
           .help = "Pixel pitch of the eye's picture",
           .otherwise = "the panel's, or a multiple for at most 2048 pixels",
           .feeds = "EyePlan.output_pitch_m|EyePlan.focus_m, output_pitch_m"}};
}

std::vector<OptionRow> tone_options(ReconstructArguments& a) {
  return {
      {.names = "--white",
       .target = &a.white,
       .value = "I",
       .help = "Intensity shown as white, or a rule: percentile (99.9 %) or mean+deviation",
       .otherwise = "percentile; mean+deviation through an eye's pupil",
       .common = true,
       .feeds = "tone_map.reference"},
      {.names = "--gamma",
       .target = &a.gamma,
       .value = "G",
       .help = "Exponent of the tones; above 1: lighter shadows",
       .range = gamma_range,
       .common = true,
       .feeds = "tone_map.gamma"},
      {.names = "--linear", .target = &a.linear, .help = "Write the intensity as float32 TIFF or NPY", .common = true}};
}

std::vector<OptionRow> file_options(ReconstructArguments& a) {
  auto& o = a.overrides;
  return {
      {.names = "--wavelength",
       .target = &o.wavelength,
       .value = "LENGTH",
       .help = "Wavelength; R,G,B of three files",
       .common = true,
       .feeds = "modulation_of.grid.wavelength_m"},
      {.names = "--pitch",
       .target = &o.pitch,
       .value = "LENGTH",
       .help = "Pixel pitch",
       .common = true,
       .feeds = "modulation_of.grid.pitch_m"},
      {.names = "--panel", .target = &o.panel, .value = "NAME", .help = "Preset whose pitch, bits and levels are used"},
      {.names = "--encode,--encoding",
       .target = &o.encoding,
       .value = "NAME",
       .help = "Encoding: phase, amplitude, double-phase, single-sideband or burckhardt",
       .feeds = "parse_encoding.encoding"},
      {.names = "--bits",
       .target = &o.bits,
       .value = "N",
       .help = "Bits of a code",
       .range = code_bits_range,
       .feeds = "modulation_of.bits|modulation_of.codes"},
      {.names = "--phase-range", .target = &o.phase_range, .value = "ANGLE", .help = "Phase stroke over all codes"},
      {.names = "--lut,--levels",
       .target = &o.lut,
       .value = "FILE",
       .help = "Text file with the phase in radians of each code",
       .excludes = "--phase-range"},
      {.names = "--amplitude-range",
       .target = &o.amplitude_range,
       .value = "MIN,MAX",
       .help = "Field values of the lowest and highest code; one or three pairs of three files"},
      {.names = "--object-energy",
       .target = &o.object_energy,
       .value = "R,G,B",
       .help = "Energy of the object in each of three files, which balances the colours"},
      {.names = "--reference-angle",
       .target = &o.reference_angle,
       .value = "X[,Y]",
       .help = "Tilt of the reference beam"},
      {.names = "--carrier",
       .target = &o.carrier,
       .value = "X[,Y]",
       .help = "Blazed grating in the codes: angles (0.5deg) or periods (64um, 8px)",
       .feeds = "steering_angle_rad."},
      {.names = "--packed16",
       .target = &o.packed16,
       .help = "Read 16-bit codes as red (high byte) and green (low byte)"},
      {.names = "--correction",
       .target = &o.correction,
       .value = "FILE",
       .help = "Wavefront map to subtract, as the panel it was measured for does"},
      {.names = "--no-filter",
       .target = &o.no_filter,
       .help = "Show all diffraction orders, without the encoding's filter"},
      {.names = "--zero-order", .target = &o.zero_order, .help = "Include the zero order of amplitude holograms"}};
}

}  // namespace

Command reconstruct_command() {
  const auto arguments = std::make_shared<ReconstructArguments>();
  auto& a = *arguments;
  return {
      .name = "reconstruct",
      .purpose = "Reconstruct numerically what a camera or an eye sees of a hologram",
      .examples = {"holotone reconstruct teapot.png -o focus.png",
                   "holotone reconstruct teapot.png -o stack.png --sweep 18cm:22cm:9",
                   "holotone reconstruct teapot.png -o eye.png --viewer 50cm:4mm@5,0mm"},
      .groups =
          {{"",
            {{.names = "IN",
              .target = &a.inputs,
              .help = "Hologram; three for red, green and blue (or knot_%c.png); a counter (spin/%04d.png) for frames",
              .required = true},
             {.names = "-o,--output",
              .target = &a.output,
              .value = "FILE",
              .help = "PNG, TIFF or BMP; a counter such as %03d for one picture a distance or frame",
              .required = true}}},
           {"Focus", focus_options(a)},
           {"Pupil", eye_options(a)},
           {"Tones", tone_options(a)},
           {"Values instead of the file's", file_options(a)},
           console_options(a.console)},
      .run = [arguments] { return run_reconstruct(*arguments); }};
}

}  // namespace holotone::cli

#include <algorithm>
#include <array>
#include <cli/common/cancel.hpp>
#include <cli/common/command.hpp>
#include <cli/common/console.hpp>
#include <cli/common/paths.hpp>
#include <cli/common/picture_file.hpp>
#include <cli/common/points_options.hpp>
#include <cli/common/smoe_summary.hpp>
#include <cli/info/info_dots.hpp>
#include <cli/info/info_metadata.hpp>
#include <cli/options/panel_options.hpp>
#include <cli/options/values.hpp>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <holotone/core/error.hpp>
#include <holotone/core/units.hpp>
#include <holotone/hologram/point_cloud.hpp>
#include <holotone/io/dots/dots.hpp>
#include <holotone/io/fields/field_file.hpp>
#include <holotone/io/fields/field_numbers_detail.hpp>
#include <holotone/io/fields/field_rows.hpp>
#include <holotone/io/file_bytes_detail.hpp>
#include <holotone/io/file_format_detail.hpp>
#include <holotone/io/file_part_detail.hpp>
#include <holotone/io/guarded/guarded.hpp>
#include <holotone/io/images/image.hpp>
#include <holotone/io/images/image_formats_detail.hpp>
#include <holotone/io/npy_detail.hpp>
#include <holotone/optics/field.hpp>
#include <holotone/recipes/file_kind_detail.hpp>
#include <holotone/recipes/metadata_keys.hpp>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>

namespace holotone::cli {
namespace {

struct InfoJob {
  std::string input;
  bool dots = false;
  PanelChoice panel;
  SceneOptions scene;
  PointCloudOptions sum{.wavelength_m = 532e-9};  ///< wavelength and band limit of the Fresnel error
  ConsoleOptions console;
};

void tell_picture(const InfoJob& job, const io::ImageHead& head) {
  for (const auto& note : head.notes) warn(job.console, note);
  const std::int64_t pages = page_count(job.input);
  const auto& shape = head.shape;
  const auto& metadata = head.metadata;
  const std::string type = head.bits == 0 ? "float32" : fmt::format("{}-bit", head.bits);
  const bool hologram = metadata.count("encoding") != 0;
  report(job.console,
         fmt::format("{}: {}, {} x {} pixels, {}, {}{}", job.input, hologram ? "hologram" : "picture", shape[1],
                     shape[0], counted(shape[2], "channel"), type, pages == 1 ? "" : fmt::format(", {} pages", pages)));
  tell_metadata(job.console, metadata);
  report_json(job.console, {{"file", job.input},
                            {"kind", hologram ? "hologram" : "picture"},
                            {"resolution", {shape[1], shape[0]}},
                            {"channels", shape[2]},
                            {"pixel_type", type},
                            {"pages", pages},
                            {"metadata", make_json(metadata)}});
}

/// Large TIFF files are not decoded: their head says all.
void tell_image(const InfoJob& job) {
  constexpr std::int64_t max_decoded = std::int64_t{1} << 30;
  if (io::is_tiff(io::read_first_bytes(io::split_part(job.input).file, 8))) {
    const auto head = io::read_tiff_head(job.input);
    if (element_count(head.shape) > max_decoded / head.element_bytes) {
      if (head.pixels_end > head.file_bytes) {
        throw_io(job.input, fmt::format("pixels up to byte {}", head.pixels_end),
                 fmt::format("a file of {} bytes", head.file_bytes));
      }
      return tell_picture(job, head);
    }
  }
  const Image image = read_image(job.input);
  tell_picture(job,
               {.shape = shape_of(image), .bits = code_bits(image), .metadata = image.metadata, .notes = image.notes});
}

struct FieldTotals {
  double sum = 0;      ///< of |u|^2, beyond the range of float32
  double largest = 0;  ///< of |u|
  std::int64_t bad = 0;
};

/// Totals of a field of any size, read in blocks of rows.
FieldTotals totals_of(const FieldRowsReader& reader) {
  constexpr std::int64_t max_values = 1 << 22;
  const auto [ny, nx] = reader.shape();
  const std::int64_t most = std::clamp<std::int64_t>(max_values / nx, 1, ny);
  Array<std::complex<float>, 2> rows({most, nx});
  FieldTotals totals;
  for (std::int64_t first = 0; first < ny; first += most) {
    check_cancelled("reading the field");
    const View<std::complex<float>, 2> part(rows.data(), {std::min(most, ny - first), nx});
    reader.read(first, part);
    for (const auto value : part.host()) {
      if (!std::isfinite(value.real()) || !std::isfinite(value.imag())) {
        ++totals.bad;
        continue;
      }
      const double square = std::norm(std::complex<double>(value));
      totals.sum += square;
      totals.largest = std::max(totals.largest, std::sqrt(square));
    }
  }
  return totals;
}

void tell_rows(const InfoJob& job, const FieldRowsReader& reader) {
  for (const auto& note : reader.notes()) warn(job.console, note);
  const auto shape = reader.shape();
  const auto [sum, largest, bad] = totals_of(reader);
  const std::int64_t finite = element_count(shape) - bad;
  const double rms = finite == 0 ? 0 : std::sqrt(sum / static_cast<double>(finite));
  report(job.console,
         fmt::format("{}: complex field, {} x {} pixels, amplitude {:.4g} rms, {:.4g} at most{}", job.input, shape[1],
                     shape[0], rms, largest, bad > 0 ? fmt::format(", {} not finite", bad) : ""));
  tell_metadata(job.console, reader.metadata());
  report_json(job.console, {{"file", job.input},
                            {"kind", "field"},
                            {"resolution", {shape[1], shape[0]}},
                            {"amplitude_rms", rms},
                            {"amplitude_max", largest},
                            {"not_finite", bad},
                            {"metadata", make_json(reader.metadata())}});
}

/// Least and largest finite value of an array, and the number of others.
struct ValueRange {
  double low;
  double high;
  std::int64_t bad;
};

template <class Extent>
void tell_values(const InfoJob& job, const std::vector<Extent>& shape, const std::string& type, ValueRange range) {
  const auto [low, high, bad] = range;
  const bool any = low <= high;
  report(job.console, fmt::format("{}: array of shape {{{}}}, {}, {}{}", job.input, fmt::join(shape, ", "), type,
                                  any ? fmt::format("{:.6g} to {:.6g}", low, high) : "no finite number",
                                  bad > 0 && any ? fmt::format(", {} not finite", bad) : ""));
  nlohmann::json object{{"file", job.input}, {"kind", "array"}, {"shape", shape}, {"dtype", type}, {"not_finite", bad}};
  if (any) object.update({{"low", low}, {"high", high}});
  report_json(job.console, object);
}

/// Describes an array that is neither a field nor points: a phase map, or output of reconstruct --linear.
void tell_array(const InfoJob& job, const std::string& bytes, const io::NpyHeader& header) {
  double low = std::numeric_limits<double>::infinity();
  double high = -low;
  std::int64_t bad = 0;
  for (std::size_t at = header.data_begin; at + header.item_bytes <= bytes.size(); at += header.item_bytes) {
    const double value = io::load_npy_number(bytes.data() + at, header.kind, header.item_bytes, header.order);
    if (!std::isfinite(value)) {
      ++bad;
      continue;
    }
    low = std::min(low, value);
    high = std::max(high, value);
  }
  const std::string kind = header.kind == 'f' ? "float" : header.kind == 'u' ? "uint" : "int";
  tell_values(job, header.shape, fmt::format("{}{}", kind, 8 * header.item_bytes), {low, high, bad});
}

/// Describes real numbers of an HDF5 or MATLAB file.
void tell_numbers(const InfoJob& job, const io::FieldNumbers& numbers) {
  for (const auto& note : numbers.notes) warn(job.console, note);
  const auto shape = numbers.real.shape();
  double low = std::numeric_limits<double>::infinity();
  double high = -low;
  std::int64_t bad = 0;
  for (const double value : numbers.real.host()) {
    bad += std::isfinite(value) ? 0 : 1;
    if (!std::isfinite(value)) continue;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  tell_values(job, std::vector{shape[0], shape[1]}, numbers.type, {low, high, bad});
  tell_metadata(job.console, numbers.metadata);
}

/// Deviation of the Fresnel wave from the spherical wave for these points and panel.
double deviation_of(const InfoJob& job, const ScenePoints& points, const Panel& panel) {
  PointCloudOptions sum = job.sum;
  sum.pitch_m = panel.pitch_m;
  sum.shape = {panel.ny, panel.nx};
  const auto& cloud = points.cloud;
  const PointSources sources{{cloud.position.front().data(), {static_cast<std::int64_t>(cloud.size()), 3}},
                             view_of(std::span<const float>(cloud.amplitude)),
                             {}};
  return fresnel_deviation_rad(sources, sum);
}

void tell_scene(const InfoJob& job) {
  const Panel panel = chosen_panel(job.panel);
  const Mesh mesh = read_scene_guarded(job.input, current_program(), {}, Coordinates::centred);
  const auto extents = finite_extents(job.input, mesh);
  auto low = mesh.origin;
  auto high = mesh.origin;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    low[axis] += static_cast<double>(extents.low[axis]);
    high[axis] += static_cast<double>(extents.high[axis]);
  }
  const std::int64_t bad = extents.not_finite;
  std::string carries;
  const std::pair<std::string_view, bool> attributes[] = {{"colour", !mesh.colour.empty()},
                                                          {"normals", !mesh.normal.empty()},
                                                          {"amplitude", !mesh.amplitude.empty()},
                                                          {"phase", !mesh.phase_rad.empty()}};
  auto names = nlohmann::json::array();
  for (const auto& [name, there] : attributes) {
    if (!there) continue;
    carries += fmt::format("{}{}", carries.empty() ? "" : ", ", name);
    names.push_back(name);
  }
  SceneOptions options = job.scene;
  options.skip_bad = true;  // the facts come first
  const ScenePoints points = points_of(place_scene(job.input, options), options, 0);
  const double deviation = deviation_of(job, points, panel);
  const auto& console = job.console;
  const std::size_t vertices = mesh.position.size();
  report(console, fmt::format("{}: {}, {} {}, {}", job.input, mesh.triangle.empty() ? "points" : "mesh", vertices,
                              vertices == 1 ? "vertex" : "vertices",
                              counted(static_cast<std::int64_t>(mesh.triangle.size()), "triangle")));
  report(console, fmt::format("  {:<22} {}", "carries", carries.empty() ? "positions alone" : carries));
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const int digits = mesh.origin[axis] == 0 ? 6 : 12;
    report(console, fmt::format("  {:<22} {:.{}g} to {:.{}g}", std::string(1, "xyz"[axis]), low[axis], digits,
                                high[axis], digits));
  }
  if (!mesh.ignored.empty()) report(console, fmt::format("  {:<22} {}", "ignored", mesh.ignored));
  if (!points.phase_note.empty()) report(console, fmt::format("  {:<22} {}", "note", points.phase_note));
  if (bad > 0) report(console, fmt::format("  {:<22} {}", "not finite", bad));
  const auto& placement = job.scene.placement;
  report(console, fmt::format("  {:<22} {:.4g} rad ({} at {}, {})", "fresnel deviation", deviation, panel.title,
                              placement.keep ? "its own place" : length_text(placement.distance_m),
                              length_text(job.sum.wavelength_m)));
  report_json(console, {{"file", job.input},
                        {"kind", mesh.triangle.empty() ? "points" : "mesh"},
                        {"vertices", mesh.position.size()},
                        {"triangles", mesh.triangle.size()},
                        {"carries", names},
                        {"ignored", mesh.ignored},
                        {"not_finite", bad},
                        {"low", low},
                        {"high", high},
                        {"panel", panel.name},
                        {"fresnel_deviation_rad", deviation}});
  // Fails as `hologram` does, naming the first bad point.
  if (points.dropped > 0) (void)points_of(place_scene(job.input, job.scene), job.scene, 0);
}

void tell_field(const InfoJob& job) {
  try {
    tell_rows(job, FieldRowsReader(job.input, current_program()));
  } catch (const Error& error) {
    if (!io::asks_what_numbers_are(error)) throw;
    tell_numbers(job, io::read_numbers_guarded(job.input, current_program()));
  }
}

/// Points are the last kind tried: every other format that info reads has been ruled out.
[[noreturn]] void reject_unknown(const std::string& path) {
  const auto extension = io::extension_of(path);
  const auto list = io::list_extensions;
  throw_io(path,
           fmt::format("a picture or hologram ({}), a field ({}), points or a mesh ({}), a model ({}), or dots ({})",
                       list(io::formats::pictures), list(io::formats::fields), list(io::formats::scenes),
                       list(io::formats::models), list(io::formats::read_dots)),
           extension.empty() ? "a name without extension" : fmt::format("'{}'", extension));
}

void tell_points(const InfoJob& job) {
  try {
    tell_scene(job);
  } catch (const Error& error) {
    if (std::string_view(error.what()).find(": expected a scene: ") == std::string_view::npos) throw;
    reject_unknown(job.input);
  }
}

void tell_model(const InfoJob& job) {
  const MixtureFile stored = read_model(job.input);
  const auto pixels = own_pixels(stored.model);
  report_model(job.console, job.input, stored, pixels);
  report_json(job.console, model_json(job.input, stored, pixels));
}

FileKind find_kind(const InfoJob& job) {
  io::require_input(job.input);
  return job.dots ? FileKind::dots : file_kind(job.input);
}

int run_info(const InfoJob& job) {
  const auto& input = job.input;
  switch (find_kind(job)) {
    case FileKind::dots: tell_dots(input, job.console); break;
    case FileKind::model: tell_model(job); break;
    case FileKind::picture: tell_image(job); break;
    case FileKind::array: tell_array(job, io::read_bytes(input), io::read_npy_header(input)); break;
    case FileKind::field: tell_field(job); break;
    case FileKind::points: tell_points(job); break;
  }
  return exit_ok;
}

}  // namespace

Command info_command() {
  const auto job = std::make_shared<InfoJob>();
  const Applies points{[job] { return find_kind(*job) == FileKind::points; }, "points or a mesh as FILE",
                       [job] { return job->input; }};
  std::vector<OptionRow> place = placement_options(job->scene.placement);
  place.push_back({.names = "--wavelength",
                   .target = number(job->sum.wavelength_m, ValueUnit::length, {min_wavelength_m, max_wavelength_m}),
                   .value = "LENGTH",
                   .help = "Wavelength of the light",
                   .feeds = "PointCloudPlan.wavelength_m"});
  place.push_back({.names = "--no-band-limit",
                   .target = member<&PointCloudOptions::band_limit>(job->sum),
                   .help = "Include pixels where a point's fringes are finer than two pixels"});
  return {
      .name = "info",
      .purpose = "Report what a file holds: hologram, field, picture, points, mesh, model or dots",
      .examples = {"holotone info teapot.ply", "holotone info teapot.png", "holotone info halftone.png --dots"},
      .groups = {{"",
                  {{.names = "FILE", .target = &job->input, .help = "Any file that holotone reads", .required = true},
                   {.names = "--dots",
                    .target = &job->dots,
                    .help = "Read FILE as dots: a picture of two levels, or columns x, y, radius without names",
                    .common = true}}},
                 {"Fresnel error of points on a panel", panel_options(job->panel), points},
                 {"Placement of the points", std::move(place), points},
                 console_options(job->console)},
      .run = [job] { return run_info(*job); }};
}

}  // namespace holotone::cli

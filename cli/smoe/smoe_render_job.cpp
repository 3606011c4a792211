#include <algorithm>
#include <cli/common/device_option.hpp>
#include <cli/common/output_check.hpp>
#include <cli/common/smoe_file.hpp>
#include <cli/common/smoe_views.hpp>
#include <cli/options/compression_option.hpp>
#include <cli/options/values.hpp>
#include <cli/smoe/smoe_render_job.hpp>
#include <holotone/io/file_bytes_detail.hpp>
#include <holotone/io/file_format_detail.hpp>

namespace holotone::cli {
namespace {

constexpr double farthest = 1e7;

std::array<double, 4> crop_of(std::string_view option, const std::string& text) {
  constexpr std::string_view expected = "X,Y,WIDTH,HEIGHT in the model's pixels such as 100,50,200,150";
  const auto pieces = list(option, text, expected);
  if (pieces.size() != 4) reject(option, expected, text);
  std::array<double, 4> crop{};
  for (std::size_t i = 0; i < 4; ++i) crop[i] = number_between(option, pieces[i], -farthest, farthest);
  if (!(crop[2] > 0 && crop[3] > 0)) reject(option, "a width and a height > 0", text);
  return crop;
}

std::array<std::vector<double>, 2> ends_of_path(std::string_view option, const std::string& text) {
  const auto colon = text.find(':');
  if (colon == std::string::npos || colon == 0 || colon + 1 == text.size()) {
    reject(option, "two views such as 0,-1:0,1", text);
  }
  return {view_numbers(option, text.substr(0, colon)), view_numbers(option, text.substr(colon + 1))};
}

void check_format(const SmoeRenderJob& job, const std::string& path) {
  const auto codes = job.bits == 8 ? io::formats::written_pictures : io::formats::pictures_with_metadata;
  const auto formats = job.floats ? io::FileFormat::tiff | io::FileFormat::npy : codes;
  if (io::has_format(path, formats)) return;
  reject_output(io::name_ending_in(formats) + (job.floats ? " for --float" : ""), path);
}

/// An option of one way to select components.
Applies for_selection(const SmoeRenderJob& job, SmoeSelection selection, std::string_view expected) {
  return {[&job, selection] { return job.options.selection == selection; }, expected,
          [&job] { return std::string(name_of(job.options.selection)); }};
}

std::vector<OptionRow> picture_options(SmoeRenderJob& job) {
  return {{.names = "IN", .target = &job.input, .help = "Model: .smoe, .json or .npz", .required = true},
          output_option({.target = &job.output,
                         .help = "PNG, TIFF or BMP; NPY or TIFF with --float; a counter such as %03d with --sweep"}),
          {.names = "--size",
           .target = parsed_member<&SmoeRenderJob::size>(
               job, [](auto option, const auto& text) { return resolution(option, text); }),
           .value = "WxH",
           .help = "Size in pixels",
           .otherwise = "the model's",
           .common = true,
           .feeds = "SmoeRenderer.view.size|mixture_view.size"},
          {.names = "--crop",
           .target = parsed(job.crop, crop_of),
           .value = "X,Y,W,H",
           .help = "Part of the picture in the model's pixels, from its upper left corner",
           .otherwise = "all",
           .common = true,
           .feeds = "SmoeRenderer.view"},
          {.names = "--bits",
           .target = choice<int>(job.bits, {{"8", 8}, {"10", 10}, {"12", 12}, {"16", 16}}),
           .value = "N",
           .help = "Bits per channel: 8, or 10, 12 or 16 scaled to 16-bit files",
           .common = true},
          {.names = "--float",
           .target = &job.floats,
           .help = "Write the model's colours as float32 TIFF or NPY",
           .common = true,
           .excludes = "--bits"},
          compression_option(job.writing.compression, &job.output)};
}

std::vector<OptionRow> light_field_options(SmoeRenderJob& job) {
  return {{.names = "--view",
           .target = parsed(job.view, view_numbers),
           .value = "U,V",
           .help = "View of a light field, -1 (left, top) to 1 (right, bottom)",
           .otherwise = "the middle",
           .common = true,
           .feeds = "SmoeRenderer.view.at|view_position.numbers"},
          {.names = "--sweep",
           .target = member<&SmoeRenderJob::sweep>(job, {1, 100'000}),
           .value = "N",
           .help = "Number of evenly spaced views from the leftmost to the rightmost, one numbered file each",
           .common = true,
           .excludes = "--view"},
          {.names = "--along",
           .target = parsed_member<&SmoeRenderJob::along>(job, ends_of_path),
           .value = "U,V:U,V",
           .help = "First and last view of the sweep, such as 0,-1:0,1",
           .otherwise = "-1 to 1, V in the middle",
           .needs = "--sweep"},
          {.names = "--epi",
           .target = parsed_member<&SmoeRenderJob::epipolar>(
               job, [](auto option, const auto& text) { return number_between(option, text, -farthest, farthest); }),
           .value = "Y",
           .help = "Epipolar-plane image: row Y of all views, the leftmost at the top; V of --view",
           .excludes = "--sweep --crop"},
          {.names = "--aperture",
           .target = member<&SmoeRenderJob::diameter>(job, bounds_of<&SmoeAperture::diameter>),
           .value = "D",
           .help = "Diameter in U and V of the aperture of a camera, such as 0.5; none: a pinhole",
           .excludes = "--epi",
           .feeds = "render_aperture.aperture.diameter"},
          {.names = "--disparity",
           .target = member<&SmoeAperture::disparity_px>(job.aperture),
           .value = "N",
           .help = "Focus of --aperture: pixels by which the scene in focus moves for 1 in U",
           .feeds = "render_aperture.aperture.disparity_px",
           .applies = {[&job] { return job.diameter.has_value(); }, "--aperture", [] { return "none"; }}}};
}

std::vector<OptionRow> accuracy_options(SmoeRenderJob& job) {
  auto& options = job.options;
  const auto windowed = for_selection(job, SmoeSelection::window, "--selection window");
  return {{.names = "--tolerance",
           .target = member<&SmoeRenderOptions::tolerance>(options),
           .value = "T",
           .help = "Maximum error of a colour (0 to 1) against the sum of all components",
           .otherwise = "0.25/255",
           .common = true,
           .feeds = "SmoeRenderer.tolerance",
           .applies = for_selection(job, SmoeSelection::bounded, "--selection bounded")},
          {.names = "--selection",
           .target = member<&SmoeRenderOptions::selection>(options),
           .value = "NAME",
           .help = "Components of a tile: bounded (by --tolerance), window or all"},
          {.names = "--window",
           .target = member<&SmoeRenderOptions::window_px>(options),
           .value = "N",
           .help = "Margin in pixels of --selection window",
           .feeds = "SmoeRenderer.window_px",
           .applies = windowed},
          {.names = "--window-block",
           .target = member<&SmoeRenderOptions::window_block_px>(
               options, {16, bounds_of<&SmoeRenderOptions::window_block_px>.high}),
           .value = "N",
           .help = "Side in pixels of the blocks of --selection window, a multiple of 16",
           .otherwise = "the tiles",
           .feeds = "SmoeRenderer.window_block_px",
           .applies = windowed},
          {.names = "--precision",
           .target = member<&SmoeRenderOptions::precision>(options),
           .value = "NAME",
           .help = "Arithmetic: fast (float32) or robust (float64)"},
          device_row({.target = &job.device_name, .common = true})};
}

void set_output(SmoeRenderJob& job) {
  require_known_counters(job.output, false);
  job.frames = frame_pattern(job.output);
  if (!job.sweep && job.frames) reject_output("no counter without --sweep", job.output);
  if (job.sweep && !job.frames) reject_output("a counter such as %03d for the views of --sweep", job.output);
  const auto name = [&](std::int64_t i) { return job.frames ? job.frames->name(i) : job.output; };
  check_format(job, name(0));
  require_outputs({{output_name, job.sweep.value_or(1), name}}, {{"IN", job.input}});
}

}  // namespace

std::vector<OptionGroup> smoe_render_options(SmoeRenderJob& job) {
  return {{"", picture_options(job)},
          {"Views of a light field", light_field_options(job)},
          {"Accuracy and device", accuracy_options(job)},
          console_options(job.console)};
}

void complete(SmoeRenderJob& job) {
  io::require_input(job.input);
  require_model_name("IN", job.input);
  if (job.options.window_block_px % 16 != 0) {
    reject<&SmoeRenderOptions::window_block_px>("a multiple of 16", std::to_string(job.options.window_block_px));
  }
  set_output(job);
  job.device = device_option(job.device_name, job.console);
}

}  // namespace holotone::cli

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/io/dots/dots.hpp>
#include <holotone/io/dots/dots_formats_detail.hpp>
#include <holotone/io/file_bytes_detail.hpp>
#include <holotone/io/file_format_detail.hpp>
#include <holotone/io/metadata_text_detail.hpp>
#include <holotone/io/text_reader_detail.hpp>

namespace holotone {
namespace {

// Decides by the first bytes; a file of another kind is not read further.
bool is_text(std::string_view first) { return first.find('\0') == std::string_view::npos; }
bool is_anything(std::string_view) { return true; }

/// Colour of a hue in turns, with full saturation and as dark as an ink.
std::array<std::uint8_t, 3> hue_colour(double hue) {
  std::array<std::uint8_t, 3> colour{};
  for (std::size_t c = 0; c < 3; ++c) {
    const double turned = hue + static_cast<double>(c) / 3;
    const double away = std::abs(2 * (turned - std::floor(turned)) - 1);  // 1 at the hue, 0 opposite
    colour[c] = static_cast<std::uint8_t>(std::lround(200 * std::clamp(3 * away - 1, 0.0, 1.0)));
  }
  return colour;
}

void require_finite_positions(const Dots& dots) {
  for (std::size_t i = 0; i < dots.position.size(); ++i) {
    if (!std::isfinite(dots.position[i])) {
      throw_argument("write_dots", "position", "finite coordinates",
                     fmt::format("{} (dot {})", dots.position[i], i / 2));
    }
  }
  for (std::size_t i = 0; i < dots.radius.size(); ++i) {
    if (!(dots.radius[i] >= 0) || !std::isfinite(dots.radius[i])) {
      throw_argument("write_dots", "radius", "finite radii >= 0", fmt::format("{} (dot {})", dots.radius[i], i));
    }
  }
}

void require_dots(const Dots& dots, const DotsWriteOptions& options) {
  const auto count = static_cast<std::size_t>(dots.count());
  const auto require_length = [&](std::string_view name, std::size_t length) {
    if (length != 0 && length != count) {
      throw_argument("write_dots", name, fmt::format("none or {} values", count), fmt::format("{}", length));
    }
  };
  if (dots.position.size() % 2 != 0 || count > UINT32_MAX) {
    throw_argument("write_dots", "position", "x, y of at most 2^32 - 1 dots",
                   fmt::format("{} numbers", dots.position.size()));
  }
  require_length("radius", dots.radius.size());
  require_length("colour_class", dots.colour_class.size());
  require_finite_positions(dots);
  require_range("write_dots", "compression", options.compression, 0, 9);
  const auto require_not_negative = [](std::string_view name, double value, double most) {
    if (value != 0) require_positive("write_dots", name, value);
    require_range("write_dots", name, value, 0, most);
  };
  require_not_negative("pixel_m", options.pixel_m, 1e3);
  require_not_negative("radius", options.radius, 1e9);
  require_not_negative("dpi", options.dpi, 1e6);
  require_not_negative("dots.pixel_m", dots.pixel_m, 1e3);
}

void require_page(const Dots& dots) {
  require_positive("write_dots", "dots.width", dots.width);
  require_positive("write_dots", "dots.height", dots.height);
  require_range("write_dots", "dots.width", dots.width, 0, 1e9);
  require_range("write_dots", "dots.height", dots.height, 0, 1e9);
}

}  // namespace

std::vector<Ink> default_inks(std::size_t count) {
  constexpr std::size_t max_classes = 256;
  if (count > max_classes) {
    throw_argument("default_inks", "count", fmt::format("at most {}", max_classes), fmt::format("{}", count));
  }
  const Ink black{"black", {0, 0, 0}};
  if (count <= 1) return {black};
  if (count == 2) return {black, {"red", {200, 0, 0}}};
  std::vector<Ink> inks{{"cyan", {0, 174, 239}}, {"magenta", {236, 0, 140}}, {"yellow", {255, 242, 0}}};
  if (count > 3) inks.push_back(black);
  for (std::size_t i = inks.size(); i < count; ++i) {
    constexpr double golden = 0.6180339887;  // spreads any number of hues
    inks.push_back({fmt::format("ink {}", i + 1), hue_colour(golden * static_cast<double>(i))});
  }
  return inks;
}

bool is_dots_output(std::string_view path) { return io::has_format(path, io::formats::written_dots); }

bool is_picture_of_dots(std::string_view path) { return io::has_format(path, io::formats::pictures); }

bool is_dots_input(std::string_view path) {
  return io::has_format(path, io::formats::read_dots | io::formats::pictures);
}

DotsFile read_dots_file(const std::string& path, const DotsReadOptions& options) {
  require_range("read_dots", "threshold", options.threshold, 0, 1);
  const auto format = io::file_format(path);
  if (is_picture_of_dots(path)) return io::read_dots_picture(path, options.threshold);
  if (format == io::FileFormat::npy) return io::read_dots_npy(io::read_bytes_if(path, is_anything), path);
  if (!is_dots_input(path)) {
    throw_io(path,
             fmt::format("dots: {}, or a picture of them: {}", io::list_extensions(io::formats::read_dots),
                         io::list_extensions(io::formats::pictures)),
             io::extension_or_none(path));
  }
  const std::string bytes = io::read_bytes_if(path, is_text);
  if (!is_text(bytes)) io::require_text(path, bytes);
  return format == io::FileFormat::svg ? io::read_dots_svg(bytes, path) : io::read_dots_table(bytes, path);
}

Dots read_dots(const std::string& path, const DotsReadOptions& options) { return read_dots_file(path, options).dots; }

void write_dots(const std::string& path, const Dots& dots, const DotsWriteOptions& options, Progress& progress) {
  if (!is_dots_output(path)) io::throw_format(path, io::formats::written_dots, "dots");
  require_dots(dots, options);
  io::require_metadata("write_dots", options.metadata);
  const auto largest = std::max_element(dots.colour_class.begin(), dots.colour_class.end());
  const std::size_t classes = dots.colour_class.empty() ? 1 : std::size_t{*largest} + 1;
  const auto inks = options.inks.empty() ? default_inks(classes) : options.inks;
  if (inks.size() < classes) {
    throw_argument("write_dots", "inks", fmt::format("at least {}", classes), fmt::format("{}", inks.size()));
  }
  const double pixel_m = dots.pixel_m > 0 ? dots.pixel_m : default_pixel_m;
  const io::DotsToWrite job{dots,
                            options.pixel_m > 0 ? options.pixel_m : pixel_m,
                            options.pixel_m > 0 || dots.pixel_m > 0,
                            options.radius > 0 ? options.radius : default_dot_radius,
                            options.dpi,
                            options.one_bit,
                            options.compression,
                            inks,
                            options.metadata};
  const auto format = io::file_format(path);
  if (format == io::FileFormat::csv) return io::write_dots_table(path, job, ',', progress);
  if (format == io::FileFormat::txt) return io::write_dots_table(path, job, ' ', progress);
  if (format == io::FileFormat::npy) return io::write_dots_npy(path, job, progress);
  require_page(dots);
  if (format == io::FileFormat::svg) return io::write_dots_svg(path, job, progress);
  if (format == io::FileFormat::pdf) return io::write_dots_pdf(path, job, progress);
  io::write_dots_png(path, job, progress);
}

namespace io {

void DotsBuilder::add(double x, double y, std::string_view where) {
  for (const double value : {x, y}) {
    if (!std::isfinite(static_cast<float>(value))) {
      throw_io(path_, fmt::format("finite coordinates ({})", where), fmt::format("{}", value));
    }
  }
  file_.dots.position.push_back(static_cast<float>(x));
  file_.dots.position.push_back(static_cast<float>(y));
}

void DotsBuilder::add_radius(double radius, std::string_view where) {
  if (!(radius >= 0) || !std::isfinite(static_cast<float>(radius))) {
    throw_io(path_, fmt::format("a finite radius >= 0 ({})", where), fmt::format("{}", radius));
  }
  file_.dots.radius.push_back(static_cast<float>(radius));
}

void DotsBuilder::add_class(double colour_class, std::string_view where) {
  if (!(colour_class >= 0 && colour_class <= 255) || colour_class != std::floor(colour_class)) {
    throw_io(path_, fmt::format("a class from 0 to 255 ({})", where), fmt::format("{}", colour_class));
  }
  file_.dots.colour_class.push_back(static_cast<std::uint8_t>(colour_class));
}

DotsFile DotsBuilder::take() {
  if (file_.dots.position.empty()) throw_io(path_, "at least 1 dot", "0");
  return std::move(file_);
}

DotsByClass by_class(const DotsToWrite& job) {
  DotsByClass result;
  result.begin.assign(job.inks.size() + 1, 0);
  for (std::size_t i = 0; i < job.count(); ++i) ++result.begin[job.class_at(i) + 1];
  for (std::size_t c = 0; c < job.inks.size(); ++c) result.begin[c + 1] += result.begin[c];
  auto next = result.begin;
  result.order.resize(job.count());
  for (std::size_t i = 0; i < job.count(); ++i) result.order[next[job.class_at(i)]++] = static_cast<std::uint32_t>(i);
  return result;
}

}  // namespace io
}  // namespace holotone

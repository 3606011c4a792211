#include <algorithm>
#include <cli/measure/measure_figures.hpp>
#include <cli/options/values.hpp>
#include <cli/view/control.hpp>
#include <cli/view/dots_document.hpp>
#include <cli/view/geometry_bytes.hpp>
#include <cmath>
#include <holotone/core/colour.hpp>
#include <numbers>

namespace holotone::cli {
namespace {

nlohmann::json make_json(const Plot& plot) {
  nlohmann::json series = nlohmann::json::array();
  for (const auto& one : plot.series) {
    nlohmann::json y = nlohmann::json::array();
    for (const double value : one.y) y.push_back(std::isfinite(value) ? nlohmann::json(value) : nlohmann::json());
    series.push_back({{"name", one.name}, {"x", one.x}, {"y", y}});
  }
  return {{"title", plot.title}, {"x", plot.x_label}, {"y", plot.y_label}, {"logarithmic", false}, {"series", series}};
}

MeasureJob job_of(const std::string& path, const std::string& against, const InkSource& ink) {
  MeasureJob job;
  job.input = path;
  job.against = against;
  if (!against.empty()) job.ink = ink;
  complete(job);
  return job;
}

}  // namespace

DotsDocument::DotsDocument(const std::string& path, const std::string& against, const InkSource& ink)
    : job_(job_of(path, against, ink)) {
  DotsFile file = read_dots_file(path);
  const MeasuredAgainst image = read_against(job_, file.metadata);
  dots_ = placed_dots(job_, std::move(file), image.ink.view());
  inks_ = default_inks(static_cast<std::size_t>(std::max(1, dots_.classes)));
}

std::string DotsDocument::command(std::string_view output) const {
  std::string text = fmt::format("holotone measure {}", shell_word(job_.input));
  if (!job_.against.empty()) {
    text += fmt::format(" --against {}", shell_word(job_.against));
    if (job_.ink.options.invert) text += " --invert";
    if (job_.ink.options.gamma != 1) text += fmt::format(" --gamma {:.6g}", job_.ink.options.gamma);
  }
  return fmt::format("{} -o {}", text, output);
}

const Measured& DotsDocument::measured(Progress& progress) {
  if (!measured_) measured_ = measure(job_, progress);
  return *measured_;
}

/// Of dots without radii: on a page whose unit is no pixel, less than half their spacing.
double DotsDocument::usual_radius() const {
  const Dots& dots = dots_.dots;
  const double area = dots.width * dots.height / static_cast<double>(std::max<std::int64_t>(1, dots.count()));
  return std::min(default_dot_radius, 0.5 * std::sqrt(area));
}

ViewAnswer DotsDocument::geometry() const {
  const Dots& dots = dots_.dots;
  ViewAnswer answer;
  answer.media = "application/octet-stream";
  append_bytes(answer.payload, dots.position);
  append_bytes(answer.payload, dots.radius);
  append_bytes(answer.payload, dots.colour_class);
  nlohmann::json inks = nlohmann::json::array();
  for (const auto& ink : inks_) {
    inks.push_back({ink.name, fmt::format("#{:02x}{:02x}{:02x}", ink.srgb[0], ink.srgb[1], ink.srgb[2])});
  }
  answer.header = {{"count", dots.count()},
                   {"page", {dots.width, dots.height}},
                   {"inks", inks},
                   {"has_radius", !dots.radius.empty()},
                   {"has_class", !dots.colour_class.empty()},
                   {"radius", usual_radius()},
                   {"command", ""},
                   {"facts", nlohmann::json::array()}};
  return answer;
}

Raster DotsDocument::raster(const ViewRequest& request, Progress& progress) {
  if (request.view != "spectrum") reject_view(request.view);
  const Measured& m = measured(progress);
  if (!m.radial) reject("view", "dots on a page wide enough for a spectrum", job_.input);
  return {{spectrum_codes(m.spectrum), {}},
          command("spectrum.png"),
          {{"low-frequency power", fmt::format("{:.3g}", m.summary.low_power)},
           {"mean anisotropy", fmt::format("{:.3g} dB", m.summary.mean_anisotropy_db)}}};
}

ViewAnswer DotsDocument::show(const ViewRequest& request, Progress& progress) {
  if (request.view == "dots") return geometry();
  if (request.view == "spectrum") return answer_of(raster(request, progress), request);
  const Measured& m = measured(progress);
  if ((request.view == "raps" || request.view == "anisotropy") && m.radial) {
    return answer_of(make_json(request.view == "raps" ? raps_plot(m) : anisotropy_plot(m)), command("measures.html"),
                     {});
  }
  if (request.view == "pairs" && m.pairs) return answer_of(make_json(pairs_plot(m)), command("measures.html"), {});
  if (request.view == "similarity" && !m.blurred.empty()) {
    Facts facts;
    for (const auto& blur : m.blurred) {
      facts.emplace_back(fmt::format("PSNR after a blur of {:g} pixels", blur.sigma),
                         fmt::format("{:.2f} dB", blur.psnr_db));
    }
    return answer_of(make_json(blurred_plot(m, false)), command("measures.html"), facts);
  }
  reject_view(request.view);
}

/// The share of each pixel that dots leave blank, as if none overlapped.
Image DotsDocument::thumbnail(Progress& /*progress*/) {
  const Dots& dots = dots_.dots;
  const double scale = static_cast<double>(thumbnail_side) / std::max(dots.width, dots.height);
  const auto pixels = [&](double length) {
    return std::clamp<std::int64_t>(std::llround(length * scale), 1, thumbnail_side);
  };
  const Shape<2> shape{pixels(dots.height), pixels(dots.width)};
  Array<double, 2> ink(shape);
  std::ranges::fill(ink.host(), 0);
  const double usual = usual_radius();
  for (std::int64_t i = 0; i < dots.count(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    const double radius = dots.radius.empty() ? usual : static_cast<double>(dots.radius[at]);
    const auto column = static_cast<std::int64_t>(static_cast<double>(dots.position[2 * at]) * scale);
    const auto row = static_cast<std::int64_t>(static_cast<double>(dots.position[2 * at + 1]) * scale);
    ink.data()[std::clamp<std::int64_t>(row, 0, shape[0] - 1) * shape[1] +
               std::clamp<std::int64_t>(column, 0, shape[1] - 1)] += std::numbers::pi * radius * radius * scale * scale;
  }
  Array<std::uint8_t, 3> codes({shape[0], shape[1], 1});
  for (std::int64_t i = 0; i < ink.size(); ++i) {
    codes.data()[i] = static_cast<std::uint8_t>(std::lround(255 * linear_to_srgb(1 - std::min(1.0, ink.data()[i]))));
  }
  return {std::move(codes), {}};
}

nlohmann::json DotsDocument::description() const {
  const Dots& dots = dots_.dots;
  Facts facts{{"dots", std::to_string(dots.count())}, {"page", fmt::format("{:g} x {:g}", dots.width, dots.height)}};
  if (dots.pixel_m > 0) facts.emplace_back("pixel", format_length(dots.pixel_m));
  nlohmann::json views = {view_json("dots", "Dots", "dots"), view_json("spectrum", "Spectrum", "picture"),
                          view_json("raps", "Radial power", "plot"), view_json("anisotropy", "Anisotropy", "plot"),
                          view_json("pairs", "Pair correlation", "plot")};
  if (!job_.against.empty()) views.push_back(view_json("similarity", "Similarity", "plot"));
  return {{"name", job_.input},
          {"kind", "dots"},
          {"facts", facts},
          {"views", views},
          {"controls", nlohmann::json::object()}};
}

}  // namespace holotone::cli

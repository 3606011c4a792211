// Measurements as lines, JSON and CSV.
#include <cli/measure/measure_result.hpp>
#include <cli/options/values.hpp>
#include <cmath>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace holotone::cli {
namespace {

using nlohmann::json;

/// JSON has neither infinity nor NaN.
json finite(double value) { return std::isfinite(value) ? json(value) : json(nullptr); }

json finite(const std::vector<double>& values) {
  json array = json::array();
  for (const double value : values) array.push_back(finite(value));
  return array;
}

std::vector<double> in_db(const std::vector<double>& anisotropy) {
  std::vector<double> values;
  values.reserve(anisotropy.size());
  for (const double value : anisotropy) values.push_back(anisotropy_db(value));
  return values;
}

json spectrum_json(const MeasureJob& job, const Measured& m) {
  json object{{"segments", element_count(m.pieces)},
              {"rows", m.pieces[0]},
              {"columns", m.pieces[1]},
              {"periodograms", m.spectrum.periodograms},
              {"window", name_of(job.options.window)},
              {"step", {m.spectrum.step_x, m.spectrum.step_y}}};
  if (!m.radial) return object;
  const auto& s = m.summary;
  object["width"] = m.radial->width;
  object["frequency"] = finite(m.radial->frequency);
  object["raps"] = finite(m.radial->power);
  object["anisotropy_db"] = finite(in_db(m.radial->anisotropy));
  object["samples"] = m.radial->samples;
  object["summary"] = {{"low_power", finite(s.low_power)},
                       {"peak_power", finite(s.peak_power)},
                       {"peak_frequency", finite(s.peak_frequency)},
                       {"mean_anisotropy_db", finite(s.mean_anisotropy_db)},
                       {"largest_anisotropy_db", finite(s.largest_anisotropy_db)},
                       {"floor_db", finite(s.floor_db)},
                       {"annuli", s.annuli}};
  return object;
}

json against_json(const MeasureJob& job, const Measured& m) {
  json rows = json::array();
  for (const auto& b : m.blurred) {
    rows.push_back({{"sigma", b.sigma},
                    {"sigma_spacings", b.sigma / m.spacing},
                    {"mean_square_error", b.mean_square_error},
                    {"psnr_db", finite(b.psnr_db)},
                    {"ssim", finite(b.ssim)}});
  }
  return {{"image", job.against},
          {"resolution", {m.image[1], m.image[0]}},
          {"ink", m.ink},
          {"charge", m.charge},
          {"spacing", m.spacing},
          {"scale", {m.scale_x, m.scale_y}},
          {"margin", job.options.margin},
          {"blurred", rows}};
}

}  // namespace

json measured_json(const MeasureJob& job, const Measured& m) {
  const Dots& dots = m.source.dots;
  json object{{"software", "holotone " HOLOTONE_VERSION},
              {"file", job.input},
              {"dots", dots.count()},
              {"off_page", m.source.off_page},
              {"page", {dots.width, dots.height}},
              {"page_stated", m.source.page_stated},
              {"interior", job.options.interior},
              {"inside", m.inside},
              {"density", m.density},
              {"principal_frequency", principal_frequency(m.density)},
              {"hexagonal_frequency", hexagonal_frequency(m.density)},
              {"hexagonal_distance", hexagonal_distance(m.density)},
              {"nearest",
               {{"smallest", finite(m.nearest.smallest)},
                {"mean", finite(m.nearest.mean)},
                {"smallest_relative", finite(m.nearest.smallest_relative)},
                {"mean_relative", finite(m.nearest.mean_relative)},
                {"coincident", m.nearest.coincident}}},
              {"spectrum", spectrum_json(job, m)},
              {"remarks", m.source.remarks},
              {"warnings", m.warnings}};
  if (m.pairs) {
    object["pair_correlation"] = {{"distance", finite(m.pairs->distance)},
                                  {"value", finite(m.pairs->value)},
                                  {"pairs", m.pairs->pairs},
                                  {"every", m.pairs->every}};
  }
  if (!m.blurred.empty()) object["against"] = against_json(job, m);
  return object;
}

std::string measured_csv(const MeasureJob& job, const Measured& m) {
  std::string text = "series,x,value\n";
  const auto number = [&](std::string_view series, double value) {
    if (std::isfinite(value)) text += fmt::format("{},,{:.9g}\n", series, value);
  };
  const auto row = [&](std::string_view series, double x, double value) {
    if (std::isfinite(value)) text += fmt::format("{},{:.9g},{:.9g}\n", series, x, value);
  };
  number("dots", static_cast<double>(m.source.dots.count()));
  number("page_width", m.source.dots.width);
  number("page_height", m.source.dots.height);
  number("interior", job.options.interior);
  number("inside", static_cast<double>(m.inside));
  number("density", m.density);
  number("principal_frequency", principal_frequency(m.density));
  number("hexagonal_frequency", hexagonal_frequency(m.density));
  number("hexagonal_distance", hexagonal_distance(m.density));
  number("smallest_distance_relative", m.nearest.smallest_relative);
  number("mean_distance_relative", m.nearest.mean_relative);
  number("coincident", static_cast<double>(m.nearest.coincident));
  number("periodograms", static_cast<double>(m.spectrum.periodograms));
  if (m.radial) {
    number("low_power", m.summary.low_power);
    number("peak_power", m.summary.peak_power);
    number("peak_frequency", m.summary.peak_frequency);
    number("mean_anisotropy_db", m.summary.mean_anisotropy_db);
    number("largest_anisotropy_db", m.summary.largest_anisotropy_db);
    const auto& r = *m.radial;
    for (std::size_t i = 0; i < r.power.size(); ++i) row("raps", r.frequency[i], r.power[i]);
    for (std::size_t i = 0; i < r.power.size(); ++i)
      row("anisotropy_db", r.frequency[i], anisotropy_db(r.anisotropy[i]));
    for (std::size_t i = 0; i < r.power.size(); ++i) row("samples", r.frequency[i], static_cast<double>(r.samples[i]));
  }
  if (m.pairs) {
    for (std::size_t i = 0; i < m.pairs->value.size(); ++i)
      row("pair_correlation", m.pairs->distance[i], m.pairs->value[i]);
  }
  if (!m.blurred.empty()) number("spacing", m.spacing);
  for (const auto& b : m.blurred) row("blurred_psnr_db", b.sigma, b.psnr_db);
  for (const auto& b : m.blurred) row("blurred_ssim", b.sigma, b.ssim);
  return text;
}

std::vector<std::string> measured_lines(const MeasureJob& job, const Measured& m) {
  const Dots& dots = m.source.dots;
  std::vector<std::string> lines;
  const auto line = [&](std::string_view name, const std::string& text) {
    lines.push_back(fmt::format("  {:<22} {}", name, text));
  };
  lines.push_back(fmt::format(
      "{}: {} on {:g} x {:g}{}", job.input, counted(dots.count(), "dot"), dots.width, dots.height,
      job.options.interior < 1 ? fmt::format(", {} in the middle {:g} of both sides", m.inside, job.options.interior)
                               : ""));
  const double principal = principal_frequency(m.density);
  line("density", fmt::format("{:.4g} a square pixel: principal frequency {:.4g} cycles a pixel, hexagonal {:.4g}",
                              m.density, principal, hexagonal_frequency(m.density)));
  if (m.nearest.points > 0) {
    line("nearest dots",
         fmt::format(
             "{:.3g} at least, {:.3g} in the mean, of the hexagonal lattice's {:.4g} pixels{}",
             m.nearest.smallest_relative, m.nearest.mean_relative, hexagonal_distance(m.density),
             m.nearest.coincident > 0 ? fmt::format("; {} in one place with another", m.nearest.coincident) : ""));
  }
  if (m.radial) {
    const auto& s = m.summary;
    const std::string low =
        std::isfinite(s.low_power) ? fmt::format("{:.3g} up to half the principal frequency, ", s.low_power) : "";
    line("RAPS", fmt::format("{}peak {:.3g} at {:.3g} of it (random dots: 1)", low, s.peak_power,
                             s.peak_frequency / principal));
    if (std::isfinite(s.mean_anisotropy_db)) {
      line("anisotropy",
           fmt::format("{:.2f} dB in the mean of {}, {:.2f} dB at most (random dots: {:.2f} dB)", s.mean_anisotropy_db,
                       s.annuli == 1 ? "1 annulus" : fmt::format("{} annuli", s.annuli), s.largest_anisotropy_db,
                       s.floor_db));
    }
  }
  if (!m.blurred.empty()) {
    line("against", fmt::format("{}, {} x {} pixels, ink {:.6g}, {:.4g} a dot, dots {:.3g} pixels apart", job.against,
                                m.image[1], m.image[0], m.ink, m.charge, m.spacing));
    for (const auto& b : m.blurred) {
      line(fmt::format("sigma {:g}", b.sigma),
           fmt::format("{:.2f} spacings: PSNR {:.2f} dB{}", b.sigma / m.spacing, b.psnr_db,
                       std::isfinite(b.ssim) ? fmt::format(", SSIM {:.4f}", b.ssim) : ""));
    }
  }
  return lines;
}

}  // namespace holotone::cli

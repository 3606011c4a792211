// Dot files in `holotone info`.
#include <algorithm>
#include <cli/common/paths.hpp>
#include <cli/info/info_dots.hpp>
#include <cli/info/info_metadata.hpp>
#include <cli/options/values.hpp>
#include <holotone/core/error.hpp>
#include <holotone/core/units.hpp>
#include <holotone/io/dots/dots.hpp>
#include <holotone/io/file_bytes_detail.hpp>
#include <holotone/metrics/region.hpp>
#include <map>
#include <nlohmann/json.hpp>

namespace holotone::cli {
namespace {

struct Extent {
  float low[2];
  float high[2];
};

Extent extent_of(const Dots& dots) {
  Extent e{{dots.position[0], dots.position[1]}, {dots.position[0], dots.position[1]}};
  for (std::size_t i = 0; i < dots.position.size(); ++i) {
    e.low[i % 2] = std::min(e.low[i % 2], dots.position[i]);
    e.high[i % 2] = std::max(e.high[i % 2], dots.position[i]);
  }
  return e;
}

std::map<int, std::int64_t> classes_of(const Dots& dots) {
  std::map<int, std::int64_t> classes;
  for (const auto c : dots.colour_class) ++classes[c];
  return classes;
}

std::string page_text(const Dots& dots) {
  if (!(dots.width > 0)) return "not stated; lengths count as pixels";
  std::string text = fmt::format("{:g} x {:g} pixels", dots.width, dots.height);
  if (dots.pixel_m > 0) {
    text += fmt::format(", {} x {}, {} a pixel", format_length(dots.width * dots.pixel_m),
                        format_length(dots.height * dots.pixel_m), format_length(dots.pixel_m));
  }
  return text;
}

}  // namespace

void tell_dots(const std::string& path, const ConsoleOptions& console) {
  const DotsFile file = read_dots_file(path);
  const Dots& dots = file.dots;
  const auto line = [&](std::string_view name, const std::string& text) {
    report(console, fmt::format("  {:<22} {}", name, text));
  };
  report(console, fmt::format("{}: {}", path, counted(dots.count(), "dot")));
  line("page", page_text(dots));
  const Extent e = extent_of(dots);
  for (std::size_t axis = 0; axis < 2; ++axis) {
    line(axis == 0 ? "x" : "y", fmt::format("{:.6g} to {:.6g}", e.low[axis], e.high[axis]));
  }
  const auto off = dots.width > 0 && dots.height > 0 ? count_off_page(dots) : 0;
  if (off > 0) line("off the page", fmt::format("{}", off));
  nlohmann::json classes = nlohmann::json::array();
  std::string class_text;
  for (const auto& [colour_class, count] : classes_of(dots)) {
    classes.push_back({{"class", colour_class}, {"dots", count}});
    class_text += fmt::format("{}{}: {}", class_text.empty() ? "" : ", ", colour_class, counted(count, "dot"));
  }
  if (!class_text.empty()) line("classes", class_text);
  nlohmann::json object{{"file", path},         {"kind", "dots"},
                        {"dots", dots.count()}, {"page", {dots.width, dots.height}},
                        {"off_page", off},      {"low", e.low},
                        {"high", e.high},       {"classes", classes},
                        {"notes", file.notes},  {"metadata", make_json(file.metadata)}};
  if (dots.pixel_m > 0) object["pixel_m"] = dots.pixel_m;
  if (!dots.radius.empty()) {
    const auto [low, high] = std::minmax_element(dots.radius.begin(), dots.radius.end());
    line("radius", *low == *high ? fmt::format("{:.4g}", *low) : fmt::format("{:.4g} to {:.4g}", *low, *high));
    object["radius"] = {*low, *high};
  }
  tell_metadata(console, file.metadata);
  for (const auto& note : file.notes) remark(console, note);
  report_json(console, object);
}

}  // namespace holotone::cli

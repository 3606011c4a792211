#include "smoe_views.hpp"
#include "cancel.hpp"
#include "paths.hpp"
#include "values.hpp"
#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <holotone/core/colour.hpp>
#include <holotone/core/parallel.hpp>
#include <holotone/io/image.hpp>
#include <map>
#include <optional>

namespace holotone::cli {
namespace {

namespace fs = std::filesystem;
constexpr std::int64_t most_number = 9999;

/// A name with counters, taken apart: text, counter, text, counter, text.
struct ViewPattern {
  std::vector<std::string> texts;
  std::string counters;  ///< 'u' and 'v' in their order
};

std::optional<ViewPattern> view_pattern(const std::string& name) {
  ViewPattern pattern{{""}, {}};
  for (std::size_t i = 0; i < name.size(); ++i) {
    const bool counter = name[i] == '%' && i + 1 < name.size() && (name[i + 1] == 'u' || name[i + 1] == 'v');
    if (!counter) {
      pattern.texts.back() += name[i];
      continue;
    }
    if (pattern.counters.find(name[i + 1]) != std::string::npos) reject("IN", "each of %u and %v once", name);
    pattern.counters += name[++i];
    pattern.texts.emplace_back();
  }
  if (pattern.counters.empty()) return std::nullopt;
  if (pattern.counters == "v") reject("IN", "%u, or %u and %v, for the views of a light field", name);
  if (pattern.counters.size() == 2 && pattern.texts[1].empty()) {
    reject("IN", "something between %u and %v that tells them apart", name);
  }
  return pattern;
}

/// {v, u} of a file's name, if it matches.
std::optional<std::pair<std::int64_t, std::int64_t>> numbers_in(const std::string& name, const ViewPattern& pattern) {
  std::pair<std::int64_t, std::int64_t> numbers{0, 0};
  const char* at = name.data();
  const char* const end = name.data() + name.size();
  for (std::size_t i = 0; i < pattern.texts.size(); ++i) {
    const auto& text = pattern.texts[i];
    if (static_cast<std::size_t>(end - at) < text.size() || !std::equal(text.begin(), text.end(), at)) {
      return std::nullopt;
    }
    at += text.size();
    if (i == pattern.counters.size()) break;
    std::int64_t number = 0;
    const auto [after, error] = std::from_chars(at, end, number);
    if (error != std::errc() || after == at || number < 0 || number > most_number) return std::nullopt;
    at = after;
    (pattern.counters[i] == 'v' ? numbers.first : numbers.second) = number;
  }
  return at == end ? std::optional(numbers) : std::nullopt;
}

/// Files by {v, u}, row by row, as one grid.
std::vector<std::string> files_of(const std::string& path, const ViewPattern& pattern, std::int64_t& rows,
                                  std::int64_t& columns) {
  const fs::path folder = fs::path(path).parent_path();
  std::map<std::pair<std::int64_t, std::int64_t>, std::string> files;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder.empty() ? fs::path(".") : folder, error)) {
    const auto numbers = numbers_in(entry.path().filename().string(), pattern);
    if (!numbers) continue;
    const auto [other, fresh] = files.emplace(*numbers, (folder / entry.path().filename()).string());
    if (!fresh) throw_io(path, "one file for each view", other->second + " and " + entry.path().filename().string());
  }
  if (error || files.empty()) throw_io(path, "files of views, such as with 0 for %u", "none");
  const auto [first_row, first_column] = files.begin()->first;
  auto last = files.begin()->first;
  std::int64_t least_column = first_column;
  for (const auto& [numbers, name] : files) {
    last = {std::max(last.first, numbers.first), std::max(last.second, numbers.second)};
    least_column = std::min(least_column, numbers.second);
  }
  rows = last.first - first_row + 1;
  columns = last.second - least_column + 1;
  std::vector<std::string> result;
  for (std::int64_t v = first_row; v <= last.first; ++v) {
    for (std::int64_t u = least_column; u <= last.second; ++u) {
      const auto found = files.find({v, u});
      if (found == files.end()) {
        const std::string place =
            pattern.counters.size() == 2 ? fmt::format("v = {}, u = {}", v, u) : fmt::format("u = {}", u);
        throw_io(path, fmt::format("{} views in {} x {} without gaps", rows * columns, rows, columns),
                 "none for " + place);
      }
      result.push_back(found->second);
    }
  }
  if (result.size() < 2) throw_io(path, "2 or more views", "1");
  return result;
}

void read_picture(FitPictures& pictures, const std::string& path, bool linear) {
  check_cancelled("reading");
  Image image = read_image(path);
  const auto shape = shape_of(image);
  if (!pictures.images.empty() && shape != pictures.images.front().shape()) {
    const auto text = [](const Shape<3>& s) {
      return fmt::format("{} x {} pixels of {}", s[1], s[0], counted(s[2], "channel"));
    };
    throw_io(path, fmt::format("{}, as {} has", text(pictures.images.front().shape()), pictures.paths.front()),
             text(shape));
  }
  pictures.bits = std::holds_alternative<Array<float, 3>>(image.pixels)          ? 0
                  : std::holds_alternative<Array<std::uint8_t, 3>>(image.pixels) ? 8
                                                                                 : 16;
  auto colours = to_float(image);
  if (linear && pictures.bits != 0) {
    const std::int64_t channels = shape[2];
    const bool alpha = channels == 2 || channels == 4;
    parallel_for(0, shape[0], [&](std::int64_t row) {
      for (std::int64_t i = row * shape[1] * channels; i < (row + 1) * shape[1] * channels; ++i) {
        if (alpha && i % channels == channels - 1) continue;
        colours.data()[i] = static_cast<float>(srgb_to_linear(static_cast<double>(colours.data()[i])));
      }
    });
  }
  pictures.paths.push_back(path);
  pictures.images.push_back(std::move(colours));
}

/// Mean of the channels over squares of `scale` pixels.
std::vector<double> shrunk(const Array<float, 3>& image, std::int64_t scale, std::int64_t& ny, std::int64_t& nx) {
  ny = image.shape()[0] / scale;
  nx = image.shape()[1] / scale;
  std::vector<double> result(static_cast<std::size_t>(ny * nx), 0.0);
  for (std::int64_t row = 0; row < ny * scale; ++row) {
    for (std::int64_t column = 0; column < nx * scale; ++column) {
      for (std::int64_t c = 0; c < image.shape()[2]; ++c) {
        result[static_cast<std::size_t>(row / scale * nx + column / scale)] +=
            static_cast<double>(image(row, column, c));
      }
    }
  }
  return result;
}

/// > 0 where views to the right and views of the next row shift things alike: in small squares of the pictures the shift from
/// view to view, -sum of (dI/du dI/dx) / sum of (dI/dx)^2, is taken along both axes, and the products of both are added.
double parallax_agreement(const Array<float, 3>& middle, const Array<float, 3>& right, const Array<float, 3>& next) {
  constexpr std::int64_t scale = 4;
  constexpr std::int64_t square = 4;
  std::int64_t ny = 0;
  std::int64_t nx = 0;
  const auto a = shrunk(middle, scale, ny, nx);
  const auto u = shrunk(right, scale, ny, nx);
  const auto v = shrunk(next, scale, ny, nx);
  const auto at = [&](std::int64_t row, std::int64_t column) { return static_cast<std::size_t>(row * nx + column); };
  double sum = 0;
  for (std::int64_t top = 1; top + square < ny; top += square) {
    for (std::int64_t left = 1; left + square < nx; left += square) {
      double xx = 0;
      double yy = 0;
      double ux = 0;
      double vy = 0;
      for (std::int64_t row = top; row < top + square; ++row) {
        for (std::int64_t column = left; column < left + square; ++column) {
          const double dx = 0.5 * (a[at(row, column + 1)] - a[at(row, column - 1)]);
          const double dy = 0.5 * (a[at(row + 1, column)] - a[at(row - 1, column)]);
          xx += dx * dx;
          yy += dy * dy;
          ux += dx * (u[at(row, column)] - a[at(row, column)]);
          vy += dy * (v[at(row, column)] - a[at(row, column)]);
        }
      }
      // Where a square has little structure along an axis its shift says little.
      const double weight = std::min(xx, yy);
      if (weight > 0) sum += weight * (ux / xx) * (vy / yy);
    }
  }
  return sum;
}

bool counts_up(const FitPictures& pictures) {
  const std::int64_t row = std::min(pictures.rows / 2, pictures.rows - 2);
  const std::int64_t column = std::min(pictures.columns / 2, pictures.columns - 2);
  const auto image = [&](std::int64_t v, std::int64_t u) -> const Array<float, 3>& {
    return pictures.images[static_cast<std::size_t>(v * pictures.columns + u)];
  };
  return parallax_agreement(image(row, column), image(row, column + 1), image(row + 1, column)) < 0;
}

}  // namespace

std::vector<SmoeFitView> FitPictures::views() const {
  std::vector<SmoeFitView> result;
  for (std::size_t i = 0; i < images.size(); ++i) result.push_back({images[i].view(), at[i]});
  return result;
}

FitPictures read_fit_pictures(const std::string& path, ViewRows rows, bool linear) {
  FitPictures pictures;
  const auto pattern = view_pattern(fs::path(path).filename().string());
  if (!pattern) {
    require_input(path);
    read_picture(pictures, path, linear);
    pictures.at.emplace_back();
    return pictures;
  }
  const bool both = pattern->counters.size() == 2;
  for (const auto& file : files_of(path, *pattern, pictures.rows, pictures.columns))
    read_picture(pictures, file, linear);
  if (both && (pictures.rows < 2 || pictures.columns < 2)) {
    throw_io(path, "2 or more views along both %u and %v", fmt::format("{} x {}", pictures.columns, pictures.rows));
  }
  pictures.up = both && (rows == ViewRows::up || (rows == ViewRows::by_parallax && counts_up(pictures)));
  const auto place = [](std::int64_t i, std::int64_t count) {
    return 2 * static_cast<double>(i) / static_cast<double>(count - 1) - 1;
  };
  for (std::int64_t v = 0; v < pictures.rows; ++v) {
    for (std::int64_t u = 0; u < pictures.columns; ++u) {
      auto& own = pictures.at.emplace_back(std::vector{place(u, pictures.columns)});
      if (both) own.push_back(pictures.up ? -place(v, pictures.rows) : place(v, pictures.rows));
    }
  }
  return pictures;
}

}  // namespace holotone::cli

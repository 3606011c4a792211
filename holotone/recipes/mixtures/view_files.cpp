#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/recipes/mixtures/view_files_detail.hpp>
#include <map>
#include <utility>

namespace holotone {
namespace {

namespace fs = std::filesystem;
using mixtures::ViewFiles;
using mixtures::ViewTiles;

/// Name with counters, split: text, counter, text, counter, text.
struct ViewPattern {
  std::vector<std::string> texts;
  std::string counters;  ///< 'u' and 'v' in their order
};

[[noreturn]] void reject_path(std::string_view expected, const std::string& name) {
  throw_argument("read_views", "path", expected, fmt::format("'{}'", name));
}

std::optional<ViewPattern> view_pattern(const std::string& name) {
  ViewPattern pattern{{""}, {}};
  for (std::size_t i = 0; i < name.size(); ++i) {
    const bool counter = name[i] == '%' && i + 1 < name.size() && (name[i + 1] == 'u' || name[i + 1] == 'v');
    if (!counter) {
      pattern.texts.back() += name[i];
      continue;
    }
    if (pattern.counters.find(name[i + 1]) != std::string::npos) reject_path("each of %u and %v once", name);
    pattern.counters += name[++i];
    pattern.texts.emplace_back();
  }
  if (pattern.counters.empty()) return std::nullopt;
  if (pattern.counters == "v") reject_path("%u, or %u and %v, for the views of a light field", name);
  if (pattern.counters.size() == 2 && pattern.texts[1].empty()) {
    reject_path("something between %u and %v that separates them", name);
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
    if (error != std::errc() || after == at || std::abs(number) > max_view_number) return std::nullopt;
    at = after;
    (pattern.counters[i] == 'v' ? numbers.first : numbers.second) = number;
  }
  return at == end ? std::optional(numbers) : std::nullopt;
}

/// Files of the grid, row by row in order of {v, u}.
ViewFiles files_of(const std::string& path, const ViewPattern& pattern) {
  const fs::path folder = fs::path(path).parent_path();
  std::map<std::pair<std::int64_t, std::int64_t>, std::string> files;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder.empty() ? fs::path(".") : folder, error)) {
    const auto numbers = numbers_in(entry.path().filename().string(), pattern);
    if (!numbers) continue;
    const auto [other, fresh] = files.emplace(*numbers, (folder / entry.path().filename()).string());
    if (!fresh) throw_io(path, "one file for each view", other->second + " and " + entry.path().filename().string());
  }
  if (error || files.empty()) throw_io(path, "files with numbers in the place of %u and %v", "none");
  const auto [first_row, first_column] = files.begin()->first;
  auto last = files.begin()->first;
  std::int64_t min_column = first_column;
  for (const auto& [numbers, name] : files) {
    last = {std::max(last.first, numbers.first), std::max(last.second, numbers.second)};
    min_column = std::min(min_column, numbers.second);
  }
  const bool is_negative = last.second < 0 || (pattern.counters.size() == 2 && last.first < 0);
  if (is_negative) {  // more likely a hyphen than numbers from a centre
    throw_io(path, "views of which some have numbers of at least 0", files.begin()->second);
  }
  const std::int64_t rows = last.first - first_row + 1;
  const std::int64_t columns = last.second - min_column + 1;
  ViewFiles result{.columns = columns, .rows = rows};
  for (std::int64_t v = first_row; v <= last.first; ++v) {
    for (std::int64_t u = min_column; u <= last.second; ++u) {
      const auto found = files.find({v, u});
      if (found == files.end()) {
        const std::string place =
            pattern.counters.size() == 2 ? fmt::format("v = {}, u = {}", v, u) : fmt::format("u = {}", u);
        throw_io(path, fmt::format("{} views in {} x {} without gaps", rows * columns, columns, rows),
                 "none for " + place);
      }
      result.paths.push_back(found->second);
      result.numbers.push_back(
          {u, pattern.counters.size() == 2 ? std::optional<std::int64_t>(v) : std::optional<std::int64_t>()});
    }
  }
  if (result.paths.size() < 2) throw_io(path, "2 or more views", "1");
  return result;
}

[[noreturn]] void reject_grid(std::string_view expected, const ViewsGrid& grid) {
  throw_argument("read_views", "grid", expected,
                 fmt::format("'{}x{}{}'", grid.columns, grid.rows, grid.serpentine ? "s" : ""));
}

/// Numbered files in the order of a grid, row by row from left to right.
ViewFiles arranged(ViewFiles files, const ViewsGrid& grid) {
  const auto count = std::ssize(files.paths);
  if (grid.columns * grid.rows != count) {
    reject_grid(fmt::format("COLUMNSxROWS of the {} views", count), grid);
  }
  ViewFiles result{.columns = grid.columns, .rows = grid.rows};
  for (std::int64_t row = 0; row < grid.rows; ++row) {
    for (std::int64_t column = 0; column < grid.columns; ++column) {
      const bool back = grid.serpentine && row % 2 == 1;
      const auto i = static_cast<std::size_t>(row * grid.columns + (back ? grid.columns - 1 - column : column));
      result.paths.push_back(std::move(files.paths[i]));
      result.numbers.push_back(files.numbers[i]);
    }
  }
  return result;
}

/// Removes a number from the end of `text`; none if it has none.
std::optional<std::int64_t> take_last_number(std::string_view& text) {
  std::size_t begin = text.size();
  while (begin > 0 && text[begin - 1] >= '0' && text[begin - 1] <= '9') --begin;
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data() + begin, text.data() + text.size(), number);
  if (error != std::errc() || number < 1 || number > max_view_number) return std::nullopt;
  text.remove_suffix(text.size() - begin);
  return number;
}

bool take_last(std::string_view& text, std::string_view last) {
  if (!text.ends_with(last)) return false;
  text.remove_suffix(last.size());
  return true;
}

/// What "name_qs8x6a0.75" states.
std::optional<ViewTiles> quilt_of(const std::string& stem) {
  const auto a = stem.rfind('a');
  if (a == std::string::npos) return std::nullopt;
  ViewTiles tiles{.quilt = true};
  const auto [end, error] = std::from_chars(stem.data() + a + 1, stem.data() + stem.size(), tiles.aspect);
  if (error != std::errc() || end != stem.data() + stem.size() || !(tiles.aspect > 0.01 && tiles.aspect < 100)) {
    return std::nullopt;
  }
  std::string_view rest(stem.data(), a);
  const auto rows = take_last_number(rest);
  if (!rows || !take_last(rest, "x")) return std::nullopt;
  const auto columns = take_last_number(rest);
  if (!columns || !take_last(rest, "_qs") || *rows * *columns < 2) return std::nullopt;
  tiles.grid = {*columns, *rows, false};
  return tiles;
}

}  // namespace

namespace mixtures {

std::optional<ViewFiles> find_view_files(const std::string& path, const std::optional<ViewsGrid>& grid) {
  const auto pattern = view_pattern(fs::path(path).filename().string());
  if (!pattern) return std::nullopt;
  const bool one_counter = pattern->counters.size() == 1;
  if (grid && !one_counter) reject_grid("a name with %u alone, or one picture,", *grid);
  auto files = files_of(path, *pattern);
  if (!one_counter && (files.rows < 2 || files.columns < 2)) {
    throw_io(path, "2 or more views along both %u and %v", fmt::format("{} x {}", files.columns, files.rows));
  }
  files.one_counter = one_counter && !grid;
  return grid ? arranged(std::move(files), *grid) : files;
}

std::optional<ViewTiles> find_view_tiles(const std::string& path, const std::optional<ViewsGrid>& grid) {
  const auto quilt = quilt_of(fs::path(path).stem().string());
  if (!grid) return quilt;
  if (grid->columns * grid->rows == 1) return std::nullopt;
  ViewTiles tiles{.grid = *grid};
  if (quilt) tiles.unused = quilt->grid;
  return tiles;
}

void cut_tiles(CapturedViews& views, const ViewTiles& tiles) {
  const auto& [columns, rows, serpentine] = tiles.grid;
  const std::string path = views.paths.front();
  const Array<float, 3> sheet = std::move(views.images.front());
  const auto [all_ny, all_nx, channels] = sheet.shape();
  const std::int64_t ny = all_ny / rows;
  const std::int64_t nx = all_nx / columns;
  const bool whole = ny * rows == all_ny && nx * columns == all_nx;
  if (ny < 1 || nx < 1 || (!whole && !tiles.quilt)) {
    throw_io(path, fmt::format("a picture that {} x {} views divide into whole pixels", columns, rows),
             fmt::format("{} x {} pixels", all_nx, all_ny));
  }
  views.images.clear();
  views.paths.clear();
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t column = 0; column < columns; ++column) {
      const bool back = serpentine && row % 2 == 1;
      const std::int64_t left = (back ? columns - 1 - column : column) * nx;
      const std::int64_t top = tiles.quilt ? all_ny - (row + 1) * ny : row * ny;
      Array<float, 3> tile({ny, nx, channels});
      for (std::int64_t y = 0; y < ny; ++y) {
        std::copy_n(sheet.data() + ((top + y) * all_nx + left) * channels, nx * channels,
                    tile.data() + y * nx * channels);
      }
      views.images.push_back(std::move(tile));
      views.paths.push_back(path);
      views.numbers.push_back(tiles.quilt ? ViewNumbers{row * columns + column, std::nullopt}
                                          : ViewNumbers{column, row});
    }
  }
  views.columns = tiles.quilt ? columns * rows : columns;
  views.rows = tiles.quilt ? 1 : rows;
  if (tiles.unused) {
    views.notes.push_back(fmt::format(
        "{}: read as {} x {} views, the upper left first, as the grid says; by its name it is a quilt of {} x {}, one "
        "row "
        "of {} views from the lower left",
        path, columns, rows, tiles.unused->columns, tiles.unused->rows, tiles.unused->columns * tiles.unused->rows));
  }
  if (tiles.aspect == 0) return;
  const auto width = static_cast<double>(nx);
  const auto height = static_cast<double>(ny);
  const double stretch = width / (height * tiles.aspect);
  const double rounding = 1 / width + 1 / height + 0.002;
  if (std::abs(stretch - 1) > rounding) views.pixel_aspect = stretch;
  views.notes.push_back(
      fmt::format("{}: by its name a quilt of {} views from left to right, {} x {} pixels each{}", path, views.columns,
                  nx, ny, views.pixel_aspect == 1 ? "" : fmt::format(", {:.3g} times as high as wide", stretch)));
}

}  // namespace mixtures

bool names_views(const std::string& path) { return view_pattern(fs::path(path).filename().string()).has_value(); }

bool holds_views(const std::string& path, const std::optional<ViewsGrid>& grid) {
  return names_views(path) || mixtures::find_view_tiles(path, grid).has_value();
}

}  // namespace holotone

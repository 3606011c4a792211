#include <algorithm>
#include <charconv>
#include <cli/common/cancel.hpp>
#include <cli/common/paths.hpp>
#include <cli/common/smoe_picture.hpp>
#include <cli/common/smoe_views.hpp>
#include <cli/common/values.hpp>
#include <cmath>
#include <filesystem>
#include <holotone/core/parallel.hpp>
#include <holotone/io/images/image.hpp>
#include <holotone/recipes/mixtures.hpp>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

namespace holotone::cli {
namespace {

namespace fs = std::filesystem;

/// Name with counters, split: text, counter, text, counter, text.
struct ViewPattern {
  std::vector<std::string> texts;
  std::string counters;  ///< 'u' and 'v' in their order
};

std::optional<ViewPattern> view_pattern(const std::string& name, std::string_view option) {
  ViewPattern pattern{{""}, {}};
  for (std::size_t i = 0; i < name.size(); ++i) {
    const bool counter = name[i] == '%' && i + 1 < name.size() && (name[i + 1] == 'u' || name[i + 1] == 'v');
    if (!counter) {
      pattern.texts.back() += name[i];
      continue;
    }
    if (pattern.counters.find(name[i + 1]) != std::string::npos) reject(option, "each of %u and %v once", name);
    pattern.counters += name[++i];
    pattern.texts.emplace_back();
  }
  if (pattern.counters.empty()) return std::nullopt;
  if (pattern.counters == "v") reject(option, "%u, or %u and %v, for the views of a light field", name);
  if (pattern.counters.size() == 2 && pattern.texts[1].empty()) {
    reject(option, "something between %u and %v that tells them apart", name);
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
    if (error != std::errc() || after == at || number < 0 || number > max_view_number) return std::nullopt;
    at = after;
    (pattern.counters[i] == 'v' ? numbers.first : numbers.second) = number;
  }
  return at == end ? std::optional(numbers) : std::nullopt;
}

/// Files of the grid, row by row in order of {v, u}.
std::vector<std::string> files_of(const std::string& path, const ViewPattern& pattern, FitPictures& pictures) {
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
  const std::int64_t rows = last.first - first_row + 1;
  const std::int64_t columns = last.second - min_column + 1;
  pictures.rows = rows;
  pictures.columns = columns;
  std::vector<std::string> result;
  for (std::int64_t v = first_row; v <= last.first; ++v) {
    for (std::int64_t u = min_column; u <= last.second; ++u) {
      const auto found = files.find({v, u});
      if (found == files.end()) {
        const std::string place =
            pattern.counters.size() == 2 ? fmt::format("v = {}, u = {}", v, u) : fmt::format("u = {}", u);
        throw_io(path, fmt::format("{} views in {} x {} without gaps", rows * columns, columns, rows),
                 "none for " + place);
      }
      result.push_back(found->second);
      pictures.numbers.push_back(
          {u, pattern.counters.size() == 2 ? std::optional<std::int64_t>(v) : std::optional<std::int64_t>()});
    }
  }
  if (result.size() < 2) throw_io(path, "2 or more views", "1");
  return result;
}

/// A picture as it is read: its values, and its bits a channel (FitPictures).
struct ReadPicture {
  Array<float, 3> colours;
  int bits = 0;
};

/// The first view, whose shape all others have.
struct FirstView {
  const std::string& path;
  const Shape<3>& shape;
};

void require_same_shape(const FirstView& first, const std::string& path, const Shape<3>& shape) {
  if (shape == first.shape) return;
  const auto text = [](const Shape<3>& s) {
    return fmt::format("{} x {} pixels of {}", s[1], s[0], counted(s[2], "channel"));
  };
  throw_io(path, fmt::format("{}, as {} has", text(first.shape), first.path), text(shape));
}

void require_finite(const std::string& path, const Array<float, 3>& pixels) {
  const auto values = pixels.host();
  const auto bad = std::ranges::find_if(values, [](float value) { return !std::isfinite(value); });
  if (bad == values.end()) return;
  const auto& [ny, nx, channels] = pixels.shape();
  const std::int64_t pixel = (bad - values.begin()) / channels;
  throw_io(path, "finite values", fmt::format("{} at row {}, column {}", *bad, pixel / nx, pixel % nx));
}

/// Reads a picture, of the first view's shape if there is one.
ReadPicture read_picture(const std::string& path, bool linear, const std::optional<FirstView>& first) {
  check_cancelled("reading");
  const auto accept = [&](const Shape<3>& own) {  // a palette's channels are not known yet
    if (first && (own[0] != first->shape[0] || own[1] != first->shape[1])) require_same_shape(*first, path, own);
  };
  Image image = read_image(path, {.accept = accept, .bytes_a_pixel = 16});
  const auto shape = shape_of(image);
  if (first) require_same_shape(*first, path, shape);
  const int bits = std::holds_alternative<Array<float, 3>>(image.pixels)          ? 0
                   : std::holds_alternative<Array<std::uint8_t, 3>>(image.pixels) ? 8
                                                                                  : 16;
  auto colours = linear ? to_linear(image) : to_float(image);
  if (bits == 0) require_finite(path, colours);
  return {std::move(colours), bits};
}

/// Reads pictures of one shape, the first alone, then the others, one a thread.
void read_pictures(FitPictures& pictures, std::vector<std::string> files, bool linear) {
  const auto read = [&](std::size_t i, const std::optional<FirstView>& first) {
    ReadPicture picture = read_picture(files[i], linear, first);
    pictures.images[i] = std::move(picture.colours);
    return picture.bits;
  };
  pictures.images.resize(files.size());
  pictures.bits = read(0, std::nullopt);
  const FirstView first{files.front(), pictures.images.front().shape()};
  std::vector<int> bits(files.size(), pictures.bits);
  parallel_for(1, std::ssize(files), [&](std::int64_t i) {
    const auto number = static_cast<std::size_t>(i);
    bits[number] = read(number, first);
  });
  pictures.bits = bits.back();
  pictures.paths = std::move(files);
}

View<const float, 3> image_at(const FitPictures& pictures, std::int64_t row, std::int64_t column) {
  return pictures.images[static_cast<std::size_t>(row * pictures.columns + column)].view();
}

/// Sets the positions of the views, and `up` and `swapped` from the parallax.
void place_views(FitPictures& pictures, ViewRows rows, bool both) {
  if (both) {
    const std::int64_t row = std::min(pictures.rows / 2, pictures.rows - 2);
    const std::int64_t column = std::min(pictures.columns / 2, pictures.columns - 2);
    const auto parallax = find_parallax(image_at(pictures, row, column), image_at(pictures, row, column + 1),
                                        image_at(pictures, row + 1, column));
    pictures.up = rows == ViewRows::up || (rows == ViewRows::by_parallax && parallax.opposite);
    pictures.swapped = parallax.swapped;
  }
  const auto place = [](std::int64_t i, std::int64_t count) {
    return 2 * static_cast<double>(i) / static_cast<double>(count - 1) - 1;
  };
  for (std::int64_t v = 0; v < pictures.rows; ++v) {
    for (std::int64_t u = 0; u < pictures.columns; ++u) {
      auto& own = pictures.at.emplace_back(std::vector{place(u, pictures.columns)});
      if (both) own.push_back(pictures.up ? -place(v, pictures.rows) : place(v, pictures.rows));
    }
  }
}

}  // namespace

std::vector<SmoeFitView> FitPictures::views() const {
  std::vector<SmoeFitView> result;
  for (std::size_t i = 0; i < images.size(); ++i) result.push_back({images[i].view(), at[i]});
  return result;
}

bool names_views(const std::string& path, std::string_view option) {
  return view_pattern(fs::path(path).filename().string(), option).has_value();
}

FitPictures read_fit_pictures(const std::string& path, ViewRows rows, bool linear, std::string_view option) {
  FitPictures pictures;
  const auto pattern = view_pattern(fs::path(path).filename().string(), option);
  if (!pattern) {
    require_input(path);
    read_pictures(pictures, {path}, linear);
    pictures.at.emplace_back();
    return pictures;
  }
  const bool both = pattern->counters.size() == 2;
  read_pictures(pictures, files_of(path, *pattern, pictures), linear);
  if (both && (pictures.rows < 2 || pictures.columns < 2)) {
    throw_io(path, "2 or more views along both %u and %v", fmt::format("{} x {}", pictures.columns, pictures.rows));
  }
  place_views(pictures, rows, both);
  return pictures;
}

ViewRows view_rows(const std::string& text) {
  static constexpr Choice<ViewRows> ways[] = {
      {"auto", ViewRows::by_parallax}, {"down", ViewRows::down}, {"up", ViewRows::up}};
  return choose("--rows", text, ways);
}

FitPictures take_out(FitPictures& pictures, const std::vector<ViewNumbers>& left_out) {
  FitPictures taken;
  taken.bits = pictures.bits;
  for (const auto& view : left_out) {
    const auto name = view.v ? fmt::format("{},{}", view.u, *view.v) : fmt::format("{}", view.u);
    const auto found = std::find(pictures.numbers.begin(), pictures.numbers.end(), view);
    if (found == pictures.numbers.end()) {
      const bool again = std::find(taken.numbers.begin(), taken.numbers.end(), view) != taken.numbers.end();
      const bool grid = !pictures.numbers.empty() && pictures.numbers.front().v.has_value();
      reject("--leave-out",
             pictures.numbers.empty() ? "views of a light field"
             : again                  ? "every view once"
                                      : fmt::format("an existing view as {}", grid ? "U,V" : "U"),
             name);
    }
    const auto i = found - pictures.numbers.begin();
    const auto move = [&](auto& from, auto& to) {
      to.push_back(std::move(from[static_cast<std::size_t>(i)]));
      from.erase(from.begin() + i);
    };
    move(pictures.paths, taken.paths);
    move(pictures.images, taken.images);
    move(pictures.at, taken.at);
    move(pictures.numbers, taken.numbers);
    if (pictures.images.size() < 2) reject("--leave-out", "at least 2 remaining views", name);
  }
  return taken;
}

nlohmann::json views_json(const FitPictures& pictures, const std::vector<double>& psnr_db) {
  auto array = nlohmann::json::array();
  for (std::size_t i = 0; i < psnr_db.size(); ++i) {
    const auto& view = pictures.numbers[i];
    auto numbers = nlohmann::json::array({view.u});
    if (view.v) numbers.push_back(*view.v);
    array.push_back({{"view", numbers}, {"psnr_db", psnr_db[i]}});
  }
  return array;
}

void add_json(nlohmann::json& object, const ColourSimilarity& colours) {
  object["psnr_y_db"] = colours.psnr_y_db;
  object["ssim_y"] = colours.ssim_y;
  if (std::isnan(colours.psnr_ycbcr_db)) return;
  object["psnr_cb_db"] = colours.psnr_cb_db;
  object["psnr_cr_db"] = colours.psnr_cr_db;
  object["psnr_ycbcr_db"] = colours.psnr_ycbcr_db;
}

}  // namespace holotone::cli

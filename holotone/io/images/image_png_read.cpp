#include <algorithm>
#include <bit>
#include <cstring>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/io/file_bytes_detail.hpp>
#include <holotone/io/images/exif_colours_detail.hpp>
#include <holotone/io/images/few_bits_detail.hpp>
#include <holotone/io/images/image_formats_detail.hpp>
#include <holotone/io/images/light_codes_detail.hpp>
#include <holotone/io/images/pixel_aspect_detail.hpp>
#include <holotone/io/images/png_annotations_detail.hpp>
#include <holotone/io/images/png_reader_detail.hpp>
#include <holotone/io/images/png_step_detail.hpp>
#include <holotone/io/images/png_unpack_detail.hpp>
#include <holotone/io/metadata_text_detail.hpp>
#include <holotone/io/name_list_detail.hpp>
#include <utility>

namespace holotone::io {
namespace {

constexpr std::string_view signature("\x89PNG\r\n\x1a\n", 8);
constexpr std::uint64_t deflate_ratio = 1032;  // maximum growth of a deflate stream
constexpr std::size_t longest_text = 1 << 16;
constexpr std::uint32_t longest_annotation = 1 << 20;

/// Chunks that are followed or named elsewhere, that libpng reads, or that do not change what pixels mean: those of the
/// PNG specification 3 and its extensions, of C2PA, ImageMagick, Apple, Android's borders and Fireworks' own.
constexpr std::string_view known_chunks[] = {
    "IHDR", "PLTE", "IDAT", "IEND", "tRNS", "cHRM", "gAMA", "iCCP", "sBIT", "sRGB", "cICP", "mDCV", "mDCv",
    "cLLI", "cLLi", "tEXt", "zTXt", "iTXt", "bKGD", "hIST", "pHYs", "sPLT", "eXIf", "tIME", "acTL", "fcTL",
    "fdAT", "oFFs", "pCAL", "sCAL", "sTER", "gIFg", "gIFx", "gIFt", "dSIG", "caBX", "caNv", "vpAg", "orNT",
    "iDOT", "npOl", "npTc", "npLb", "prVW", "mkBF", "mkBS", "mkBT", "mkTS", "cmOD", "cpIp"};

extern "C" {
static void take_from_input(png_structp png, png_bytep target, std::size_t count) {
  if (!static_cast<PngInput*>(png_get_io_ptr(png))->take(reinterpret_cast<char*>(target), count)) {
    png_error(png, "the end of the file");
  }
}
static void keep_error(png_structp png, png_const_charp message) {
  std::strncpy(static_cast<char*>(png_get_error_ptr(png)), message, PngReader::message_bytes - 1);
  png_longjmp(png, 1);
}
static void ignore_warning(png_structp, png_const_charp) {}
}

/// The next `length` bytes as an EXIF block. What stands behind its first part, such as a thumbnail, is not read.
std::string take_exif(PngInput& input, std::uint32_t length) {
  constexpr std::uint32_t longest_read = 1 << 16;
  std::string block(std::min(length, longest_read), '\0');
  return input.take(block.data(), block.size()) ? block : std::string();
}

// libpng allocates memory for a chunk before checking that the file contains it, so lengths are checked here first.
PngChunks check_chunks(PngInput& input, std::string_view path) {
  PngChunks chunks;
  PngAnnotations annotations;
  std::string exif;
  std::uint64_t at = 0;
  const auto require = [&](std::uint64_t count, std::string_view what) {
    if (count > input.size() - at) {
      throw_io(path, fmt::format("{} ({} at byte {})", what, counted(count, "byte"), at),
               fmt::format("{} left", counted(input.size() - at, "byte")));
    }
  };
  require(signature.size(), "PNG signature");
  at = signature.size();
  for (;;) {
    char head[8];
    require(sizeof head, "PNG chunk");
    input.go_to(at);
    if (!input.take(head, sizeof head)) throw_io(path, "a readable file", "an error");
    at += sizeof head;
    const auto length = load<std::uint32_t>(head, std::endian::big);
    const std::string_view type(head + 4, 4);
    require(std::uint64_t{length} + 4, "PNG chunk " + in_quotes(type));
    at += std::uint64_t{length} + 4;
    chunks.largest = std::max<std::size_t>(chunks.largest, length);
    if (type == "IDAT") chunks.image += length;
    if (type == "iCCP") chunks.profile = true;
    if (type == "cICP") {
      chunks.video_code.resize(std::min<std::size_t>(length, 4));
      if (!input.take(chunks.video_code.data(), chunks.video_code.size())) chunks.video_code.clear();
    }
    if (type == "acTL" && length >= 4) {
      char frames[4];
      if (input.take(frames, sizeof frames)) chunks.frames = load<std::uint32_t>(frames, std::endian::big);
    }
    if (type == "eXIf") {
      exif = take_exif(input, length);
    }
    if (type == "sTER") chunks.stereo = true;
    if ((type == "vpAg" || type == "caNv") && length >= 8) {
      char sides[8];
      if (input.take(sides, sizeof sides)) {
        chunks.canvas = {load<std::uint32_t>(sides, std::endian::big),
                         load<std::uint32_t>(sides + 4, std::endian::big)};
      }
    }
    const bool is_known = std::ranges::find(known_chunks, type) != std::end(known_chunks);
    if (!is_known && std::ranges::find(chunks.unknown, type) == chunks.unknown.end()) chunks.unknown.emplace_back(type);
    if (type == "tEXt" || type == "zTXt" || type == "iTXt") {
      std::string text(std::min<std::uint32_t>(length, longest_annotation), '\0');
      if (input.take(text.data(), text.size())) take_annotation(type, text, annotations);
    }
    if (type == "IEND") break;
  }
  if (exif.empty()) exif = std::move(annotations.exif);
  chunks.orientation = exif_orientation(exif);
  chunks.exif_colours = exif_colours(exif);
  chunks.xmp_orientation = xmp_orientation(annotations.xmp);
  chunks.raw_profile = std::move(annotations.profile);
  input.go_to(0);
  return chunks;
}

}  // namespace

PngReader::PngReader(PngInput& input, std::string_view path)
    : path_(path), input_(input), chunks_(check_chunks(input, path)) {
  png_ = png_create_read_struct(PNG_LIBPNG_VER_STRING, message_, keep_error, ignore_warning);
  info_ = png_ != nullptr ? png_create_info_struct(png_) : nullptr;
  if (info_ == nullptr) {
    png_destroy_read_struct(&png_, nullptr, nullptr);
    throw Error(ErrorCode::out_of_memory, path_ + ": no memory for libpng");
  }
  try {
    open();
  } catch (...) {
    png_destroy_read_struct(&png_, &info_, nullptr);
    throw;
  }
}

PngReader::~PngReader() { png_destroy_read_struct(&png_, &info_, nullptr); }

template <class Step>
void PngReader::attempt(Step step) {
  if (!survives(png_, step)) throw_io(path_, "a readable PNG file", message_);
}

void PngReader::open() {
  attempt([this] {
    png_set_read_fn(png_, &input_, take_from_input);
    // Text says what the codes mean: damaged, it is not left out.
    png_set_crc_action(png_, PNG_CRC_ERROR_QUIT, PNG_CRC_ERROR_QUIT);
    png_set_user_limits(png_, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
    // Limit of unpacked text; longer text is skipped.
    png_set_chunk_malloc_max(png_, std::max(longest_text, chunks_.largest + 1));
    png_set_chunk_cache_max(png_, 256);
    png_read_info(png_, info_);
  });
  // Checked before libpng allocates a row, and again for the pixels, which expansion enlarges.
  const std::uint64_t ny = png_get_image_height(png_, info_);
  const std::uint64_t nx = png_get_image_width(png_, info_);
  const int depth = png_get_bit_depth(png_, info_);
  if (depth < 8 && png_get_color_type(png_, info_) == PNG_COLOR_TYPE_GRAY) code_bits_ = depth;
  stored_bits_ = std::uint64_t{png_get_bit_depth(png_, info_)} * png_get_channels(png_, info_);
  check_pixels(ny, nx, 1, (stored_bits_ + 7) / 8);
  attempt([this] { set_expansion(); });
  bits_ = png_get_bit_depth(png_, info_) == 16 ? 16 : 8;
  const std::uint64_t channels = is_indexed_ ? 1 : png_get_channels(png_, info_);
  check_pixels(ny, nx, channels, static_cast<std::uint64_t>(bits_ / 8));
  shape_ = {static_cast<std::int64_t>(ny), static_cast<std::int64_t>(nx), static_cast<std::int64_t>(channels)};
}

void PngReader::set_expansion() {
  is_indexed_ = png_get_color_type(png_, info_) == PNG_COLOR_TYPE_PALETTE;
  if (is_indexed_) {
    png_set_packing(png_);  // one index per byte; libpng's expansion takes an index outside the palette for black
  } else {
    png_set_expand(png_);  // 1 to 4 bits to 8, transparency to alpha
  }
  if (png_get_bit_depth(png_, info_) == 16 && std::endian::native == std::endian::little) png_set_swap(png_);
  is_interlaced_ = png_set_interlace_handling(png_) > 1;
  png_read_update_info(png_, info_);
}

void PngReader::check_pixels(std::uint64_t ny, std::uint64_t nx, std::uint64_t channels, std::uint64_t bytes) const {
  const std::uint64_t growth = std::max<std::uint64_t>(8 * channels * bytes / stored_bits_, 1);
  check_extents(ny, nx, channels, bytes, chunks_.image, deflate_ratio * growth, path_);
}

std::vector<std::uint8_t*> PngReader::pointers(std::uint8_t* rows, std::int64_t count) const {
  std::vector<std::uint8_t*> result;
  for (std::int64_t row = 0; row < count; ++row) result.push_back(rows + row * shape_[1] * shape_[2] * (bits_ / 8));
  return result;
}

void PngReader::read_rows(std::uint8_t* rows, std::int64_t count) {
  auto each = pointers(rows, count);
  auto** const first = each.data();
  attempt([this, first, count] { png_read_rows(png_, first, nullptr, static_cast<png_uint_32>(count)); });
  if (code_bits_ != 0) keep_low_bits(rows, count * shape_[1] * shape_[2], code_bits_);
}

void PngReader::read_all(std::uint8_t* rows) {
  auto each = pointers(rows, shape_[0]);
  auto** const first = each.data();
  attempt([this, first] {
    png_read_image(png_, first);
    png_read_end(png_, info_);
  });
  if (code_bits_ != 0) keep_low_bits(rows, element_count(shape_), code_bits_);
}

Palette PngReader::palette() const {
  png_colorp entries = nullptr;
  int count = 0;
  png_get_PLTE(png_, info_, &entries, &count);
  Palette palette;
  for (int i = 0; i < count; ++i) palette.push_back({entries[i].red, entries[i].green, entries[i].blue});
  return palette;
}

std::vector<std::uint8_t> PngReader::palette_alpha() const {
  png_bytep alpha = nullptr;
  int count = 0;
  if (png_get_tRNS(png_, info_, &alpha, &count, nullptr) == 0 || alpha == nullptr) return {};
  return {alpha, alpha + count};
}

ColourClaim PngReader::colours() const {
  const auto& code = chunks_.video_code;
  const auto number = [&](std::size_t i) { return static_cast<int>(static_cast<unsigned char>(code[i])); };
  if (code.size() == 4) {
    constexpr std::string_view srgb("\x01\x0d\0\x01", 4);  // ITU-T H.273: BT.709 primaries, sRGB curve, RGB, full range
    if (code == srgb) return {.is_srgb = true};
    ColourClaim claim{.unsupported = fmt::format("cICP {},{},{},{}", number(0), number(1), number(2), number(3))};
    const bool is_full_rgb = number(2) == 0 && number(3) == 1;
    for (const auto& [transfer, gamma] : {std::pair{4, 2.2}, {5, 2.8}, {8, 1.0}}) {  // of BT.470, and linear
      if (is_full_rgb && number(1) == transfer) claim.gamma = gamma;
    }
    return claim;
  }
  png_charp name = nullptr;
  int method = 0;
  png_bytep profile = nullptr;
  png_uint_32 bytes = 0;
  if (png_get_iCCP(png_, info_, &name, &method, &profile, &bytes) != 0) {
    return {.profile = std::string(reinterpret_cast<const char*>(profile), bytes)};
  }
  if (chunks_.profile) return {.unsupported = "iCCP, damaged or long,"};
  if (!chunks_.raw_profile.empty()) return {.profile = chunks_.raw_profile};
  if (png_get_valid(png_, info_, PNG_INFO_sRGB) != 0) return {.is_srgb = true};
  ColourClaim claim;
  double power = 0;
  if (png_get_gAMA(png_, info_, &power) != 0 && power > 0) claim.gamma = 1 / power;
  std::array<double, 8> xy{};
  if (png_get_cHRM(png_, info_, &xy[0], &xy[1], &xy[2], &xy[3], &xy[4], &xy[5], &xy[6], &xy[7]) != 0) {
    claim.primaries = xy;
  }
  return claim.gamma || claim.primaries ? claim : chunks_.exif_colours;
}

void PngReader::note_facts(Image& image) const {
  if (chunks_.frames > 1) {
    image.notes.push_back(
        fmt::format("{}: an animation of {} frames (APNG): its still picture is read", path_, chunks_.frames));
  }
  note_crop(image, {png_get_image_width(png_, info_), png_get_image_height(png_, info_)}, chunks_.canvas, path_);
  if (chunks_.stereo) {
    image.notes.push_back(fmt::format("{}: two views side by side (sTER) are read as one picture", path_));
  }
#ifdef PNG_pCAL_SUPPORTED
  png_charp purpose = nullptr;
  png_charp of_values = nullptr;
  png_charpp parameters = nullptr;
  png_int_32 first = 0;
  png_int_32 last = 0;
  int equation = 0;
  int count = 0;
  if (png_get_pCAL(png_, info_, &purpose, &first, &last, &equation, &count, &of_values, &parameters) != 0) {
    image.notes.push_back(fmt::format("{}: its calibration {} in {} (pCAL) is not applied to the values", path_,
                                      in_quotes(purpose), in_quotes(of_values)));
  }
#endif
  if (!chunks_.unknown.empty()) {
    image.notes.push_back(fmt::format("{}: ignored: {}", path_, list_unknown("chunk", chunks_.unknown)));
  }
  note_xmp_orientation(image, chunks_.xmp_orientation, chunks_.orientation, path_);
  png_uint_32 columns = 0;
  png_uint_32 rows = 0;
  int unit = 0;
  png_get_pHYs(png_, info_, &columns, &rows, &unit);
  if (note_pixel_aspect(image, columns, rows, path_)) return;
#if defined(PNG_sCAL_SUPPORTED) && defined(PNG_FLOATING_POINT_SUPPORTED)
  double width = 0;
  double height = 0;
  if (png_get_sCAL(png_, info_, &unit, &width, &height) == 0) return;
  const bool is_of_picture = metadata().contains("text:Gwy::XReal");  // Gwyddion: not of a pixel
  note_pixel_aspect(image, (is_of_picture ? png_get_image_width(png_, info_) : 1) / width,
                    (is_of_picture ? png_get_image_height(png_, info_) : 1) / height, path_);
#endif
}

Metadata PngReader::metadata() const {
  Metadata metadata;
  png_textp text = nullptr;
  const int count = png_get_text(png_, info_, &text, nullptr);
  for (int i = 0; i < count; ++i) {
    if (text[i].key == nullptr || text[i].text == nullptr) continue;
    const std::string_view key = text[i].key;
    if (key.size() > own_prefix.size() && key.starts_with(own_prefix)) {
      metadata[std::string(key.substr(own_prefix.size()))] = text[i].text;
    } else {
      metadata[std::string(foreign_prefix) + std::string(key)] = text[i].text;
    }
  }
  return metadata;
}

bool is_png(std::string_view bytes) { return bytes.starts_with(signature); }

Image read_png(std::string_view bytes, std::string_view path, const ImageReadOptions& options) {
  MemoryInput input(bytes);
  PngReader reader(input, path);
  const Shape<3> shape = reader.shape();
  const std::int64_t element_bytes = reader.bits() / 8 + (reader.is_indexed() ? 4 : 0);
  require_accepted(turned(shape, reader.orientation()), turning_bytes(element_bytes, reader.orientation()), options,
                   path);
  const auto read = [&](std::uint8_t* rows) {
    const auto step = static_cast<std::size_t>(shape[2] * (reader.bits() / 8));
    const PngLayout layout{static_cast<std::size_t>(shape[0]), static_cast<std::size_t>(shape[1]) * step, step,
                           reader.bits()};
    const auto unpacked = reader.is_plain() ? unpack_png(bytes, layout, rows) : Unpacked::no;
    if (unpacked == Unpacked::wrong_sum) throw_io(path, "a readable PNG file", "IDAT: incorrect data check");
    if (unpacked == Unpacked::no) reader.read_all(rows);
  };
  Image image;
  if (reader.bits() == 16) {
    Array<std::uint16_t, 3> pixels(shape);
    read(reinterpret_cast<std::uint8_t*>(pixels.data()));
    image.pixels = std::move(pixels);
  } else {
    Array<std::uint8_t, 3> pixels(shape);
    read(pixels.data());
    image.pixels = std::move(pixels);
    image.bits = reader.code_bits();
    if (reader.is_indexed()) {
      expand_palette(image, reader.palette(), reader.index_bits(), path, reader.palette_alpha());
    }
  }
  reader.note_facts(image);
  take_colours(image, reader.colours(), options, path);
  turn(image, reader.orientation());
  image.metadata = reader.metadata();
  return image;
}

}  // namespace holotone::io

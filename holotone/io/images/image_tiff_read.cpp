#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/io/file_bytes_detail.hpp>
#include <holotone/io/file_part_detail.hpp>
#include <holotone/io/images/image_formats_detail.hpp>
#include <holotone/io/metadata_text_detail.hpp>

#if HOLOTONE_TIFF
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <holotone/io/images/colour_profile_detail.hpp>
#include <holotone/io/images/orientation_detail.hpp>
#include <holotone/io/images/tag_words_detail.hpp>
#include <holotone/io/images/tiff_facts_detail.hpp>
#include <holotone/io/images/tiff_handle_detail.hpp>
#include <limits>
#include <new>
#include <optional>
#include <type_traits>
#include <vector>
#endif

namespace holotone::io {

#if HOLOTONE_TIFF
namespace {

constexpr tmsize_t libtiff_memory = tmsize_t{1} << 26;  // bytes per allocation, plus four times the file
constexpr std::uint64_t largest_block_slack = std::uint64_t{1} << 24;
// Blank pages: a fax code can state a row of any length in one bit, Zstandard 128 KiB in four bytes. Compressed files
// of any kind may therefore expand to this size.
constexpr std::uint64_t repetitive_bytes = std::uint64_t{1} << 25;

// The file, in memory or open, for libtiff's callbacks.
struct Source {
  std::string_view bytes;
  const FileHandle* file = nullptr;
  std::uint64_t size = bytes.size();
  std::uint64_t position = 0;

  /// Reads bytes within `size`.
  [[nodiscard]] bool read(char* target, std::uint64_t count, std::uint64_t at) const {
    if (file != nullptr) return read_at(*file, target, count, at) == 0;
    std::memcpy(target, bytes.data() + at, count);
    return true;
  }
};

extern "C" {
static tmsize_t read_source(thandle_t handle, void* target, tmsize_t count) {
  auto& source = *static_cast<Source*>(handle);
  if (count <= 0 || source.position >= source.size) return 0;
  const auto held = std::min<std::uint64_t>(static_cast<std::uint64_t>(count), source.size - source.position);
  if (!source.read(static_cast<char*>(target), held, source.position)) return 0;
  source.position += held;
  return static_cast<tmsize_t>(held);
}
static tmsize_t write_source(thandle_t, void*, tmsize_t) { return 0; }
static toff_t seek_source(thandle_t handle, toff_t offset, int whence) {
  auto& source = *static_cast<Source*>(handle);
  if (whence == SEEK_CUR) offset += source.position;
  if (whence == SEEK_END) offset += source.size;
  source.position = offset;
  return offset;
}
static int close_source(thandle_t) { return 0; }
static toff_t size_of_source(thandle_t handle) { return static_cast<Source*>(handle)->size; }
static int map_source(thandle_t, void**, toff_t*) { return 0; }
static void unmap_source(thandle_t, void*, toff_t) {}
}

// Bounds of a head that is read alone: the file's part that memory for its tags may follow, and its pixels.
constexpr std::uint64_t max_head_bytes = std::uint64_t{1} << 28;
constexpr std::uint64_t max_pixel_bytes = std::uint64_t{1} << 62;

// Maximum number of bytes of pixels per byte of the file.
std::uint64_t ratio_of(unsigned compression) {
  switch (compression) {
    case COMPRESSION_NONE: return 1;
    case COMPRESSION_PACKBITS: return 64;
    case COMPRESSION_LZW: return 1400;  // 3838 codes of 12 bits for 2 to 3839 equal bytes each
    case COMPRESSION_DEFLATE:
    case COMPRESSION_ADOBE_DEFLATE: return 1032;
    case COMPRESSION_JPEG:
    case COMPRESSION_OJPEG: return 2000;
    default: return 1100;
  }
}

enum class Samples { codes, codes16, floats };

/// The number of an IEEE 754 half: sign, 5 bits of exponent, 10 of fraction.
float float_of_half(std::uint16_t half) {
  const int exponent = half >> 10 & 31;
  const int fraction = half & 1023;
  const float size = exponent == 31  ? (fraction == 0 ? std::numeric_limits<float>::infinity()
                                                      : std::numeric_limits<float>::quiet_NaN())
                     : exponent == 0 ? std::ldexp(static_cast<float>(fraction), -24)
                                     : std::ldexp(static_cast<float>(1024 + fraction), exponent - 25);
  return (half & 0x8000) != 0 ? -size : size;
}

class TiffReader {
 public:
  TiffReader(std::string_view bytes, std::string_view path) : TiffReader(Source{bytes}, bytes.size(), path, {}) {}
  /// `part`: number of the page; empty: the first.
  TiffReader(const FileHandle& file, std::uint64_t size, std::string_view path, std::string_view part = {})
      : TiffReader(Source{{}, &file, size}, std::min(size, max_head_bytes), path, part) {}

  ImageHead head() {
    check_head(max_pixel_bytes);
    std::int64_t channels = is_cmyk() ? 3 : samples_;
    int bits = kind_ == Samples::floats ? 0 : bits_;
    if (photometric_ == PHOTOMETRIC_PALETTE) {
      Image first{Array<std::uint8_t, 3>({1, 1, 1}), {}};
      std::get<Array<std::uint8_t, 3>>(first.pixels).data()[0] = 0;
      expand_palette(first, read_palette(), bits_, path_);
      channels = shape_of(first)[2];
      bits = element_bytes() == 2 ? 16 : code_bits(first);
    }
    return {turned({static_cast<std::int64_t>(ny_), static_cast<std::int64_t>(nx_), channels}, orientation()),
            static_cast<int>(element_bytes()),
            bits,
            metadata(),
            pixels_end(),
            source_.size,
            page_notes({})};
  }

  Image read(const ImageReadOptions& options) {
    check_head(maximum_image_bytes);
    std::vector<std::string> notes = page_notes(options);
    const Shape<3> stored{static_cast<std::int64_t>(ny_), static_cast<std::int64_t>(nx_), is_cmyk() ? 3 : samples_};
    const auto element = static_cast<std::int64_t>(element_bytes());
    require_accepted(turned(stored, orientation()), turning_bytes(is_cmyk() ? 4 * element : element, orientation()),
                     options, path_);
    Image image;
    image.notes = std::move(notes);
    switch (kind_) {
      case Samples::codes:
        if (const auto palette = wide_palette(file_.get()); !palette.empty()) {
          image.pixels = expand_wide_palette(read_pixels<std::uint8_t>(), palette);
          break;
        }
        read_codes(image);
        break;
      case Samples::codes16: image.pixels = read_pixels<std::uint16_t>(); break;
      case Samples::floats: image.pixels = read_pixels<float>(); break;
    }
    if (alpha() == EXTRASAMPLE_ASSOCALPHA) {
      const std::uint64_t opaque = (std::uint64_t{1} << code_bits(image)) - 1;
      std::visit([&](auto& pixels) { divide_by_alpha(pixels, opaque); }, image.pixels);
    }
    if (alpha() == EXTRASAMPLE_UNSPECIFIED) {
      image.notes.push_back(
          fmt::format("{}: the meaning of sample {} is unspecified (ExtraSamples 0): taken as alpha", path_, samples_));
    }
    image.lossy = compression_ == COMPRESSION_JPEG || compression_ == COMPRESSION_OJPEG;
    note_facts(image);
    if (is_cmyk()) {
      make_rgb(image, tiff_colours(file_.get()).profile, options.as_light, path_);
    } else if (options.as_light) {
      make_srgb(image, tiff_colours(file_.get()), path_);
    }
    turn(image, orientation());
    image.metadata = metadata();
    return image;
  }

 private:
  TiffReader(const Source& source, std::uint64_t bytes_read, std::string_view path, std::string_view part)
      : path_(path), source_(source), part_(part) {
    const auto options = tiff_options(message_, libtiff_memory + 4 * static_cast<tmsize_t>(bytes_read));
    file_.reset(TIFFClientOpenExt("tiff", "r", &source_, read_source, write_source, seek_source, close_source,
                                  size_of_source, map_source, unmap_source, options.get()));
    if (!file_) fail();
    const auto read = [this](char* target, std::uint64_t count, std::uint64_t position) {
      return source_.read(target, count, position);
    };
    pages_ = find_tiff_pages(read, source_.size);
    const std::int64_t count = std::max<std::int64_t>(std::ssize(pages_.directories), 1);
    const std::int64_t page = part.empty() ? 0 : part_index(part, count, "pages", path);
    if (pages_.directories.empty() || (part.empty() && enter_full_picture(file_.get()))) return;
    if (page == 0 && !first_is_copy()) return;
    if (TIFFSetSubDirectory(file_.get(), pages_.directories[static_cast<std::size_t>(page)]) != 1) fail();
  }

  /// True if the file begins with a reduced copy or a mask, which libtiff reads first.
  [[nodiscard]] bool first_is_copy() const { return TIFFCurrentDirOffset(file_.get()) != pages_.directories.front(); }

  /// Pictures that ImageJ states: those of a large file lie behind the first, without directories.
  [[nodiscard]] std::int64_t imagej_pictures() const {
    constexpr std::string_view key = "\nimages=";
    char* description = nullptr;
    if (TIFFGetField(file_.get(), TIFFTAG_IMAGEDESCRIPTION, &description) != 1 || description == nullptr) return 0;
    const std::string_view text = description;
    const auto at = text.find(key);
    std::int64_t count = 0;
    if (!text.starts_with("ImageJ=") || at == std::string_view::npos) return 0;
    std::from_chars(text.data() + at + key.size(), text.data() + text.size(), count);
    return count;
  }

  /// What a file of several pages leaves open. Throws io if it must not.
  [[nodiscard]] std::vector<std::string> page_notes(const ImageReadOptions& options) const {
    std::vector<std::string> notes;
    const auto count = pages_.directories.size();
    if (const std::int64_t stated = imagej_pictures(); stated > static_cast<std::int64_t>(count)) {
      notes.push_back(fmt::format("{}: ImageJ states {} pictures, of which {} can be read", path_, stated, count));
    }
    if (pages_.damaged) notes.push_back(fmt::format("{}: the list of pages is damaged after page {}", path_, count));
    if (!part_.empty()) return notes;
    if (count > 1) {
      const std::string remedy = fmt::format("{}:2 is the second", path_);
      if (options.one_page) throw_io(path_, fmt::format("one page; {}", remedy), fmt::format("{} pages", count));
      notes.push_back(fmt::format("{}: the first of {} pages is read; {}", path_, count, remedy));
    }
    return notes;
  }

  void note_facts(Image& image) const {
    if (is_reduced_copy(file_.get())) {
      image.notes.push_back(fmt::format("{}: holds a reduced copy of a picture alone (NewSubfileType 1)", path_));
    }
    if (missing_blocks_ > 0) {
      image.notes.push_back(fmt::format("{}: {} not in the file (offset 0): read as {:g}", path_,
                                        counted(missing_blocks_, TIFFIsTiled(file_.get()) != 0 ? "tile" : "strip"),
                                        missing_value()));
    }
    note_no_data(tiff_no_data(file_.get()), image, path_);
    note_tiff_facts(file_.get(), image, path_);
  }

  /// Of pixels whose strip or tile is not stored, as GDAL reads them.
  [[nodiscard]] double missing_value() const {
    const double value = tiff_no_data(file_.get()).value_or(0);
    if (kind_ == Samples::floats) return value;
    return value >= 0 && value < std::ldexp(1.0, bits_) ? value : 0;
  }

  /// ExtraSamples of the sample behind the colours; none without one.
  [[nodiscard]] std::optional<std::uint16_t> alpha() const {
    if (samples_ % 2 == 1 || is_cmyk()) return std::nullopt;
    std::uint16_t count = 0;
    std::uint16_t* kinds = nullptr;
    const bool stated = TIFFGetFieldDefaulted(file_.get(), TIFFTAG_EXTRASAMPLES, &count, &kinds) == 1 && count > 0;
    return stated ? kinds[0] : static_cast<std::uint16_t>(EXTRASAMPLE_UNSPECIFIED);
  }

  [[nodiscard]] bool is_cmyk() const { return photometric_ == PHOTOMETRIC_SEPARATED; }

  [[nodiscard]] Orientation orientation() const { return orientation_of(orientation_); }

  [[nodiscard]] std::uint64_t element_bytes() const {
    if (kind_ == Samples::floats) return 4;
    return kind_ == Samples::codes16 || !wide_palette(file_.get()).empty() ? 2 : 1;
  }

  void check_head(std::uint64_t most) {
    read_tags();
    check_kind();
    const std::uint64_t growth = std::max<std::uint64_t>(8 * element_bytes() / bits_, 1);  // packed bits become bytes
    check_extents(ny_, nx_, samples_, element_bytes(), source_.size, ratio_of(compression_) * growth, path_,
                  compression_ == COMPRESSION_NONE ? 64 : repetitive_bytes, most);
  }

  [[nodiscard]] std::uint64_t pixels_end() const {
    TIFF* const file = file_.get();
    const std::uint32_t blocks = TIFFIsTiled(file) != 0 ? TIFFNumberOfTiles(file) : TIFFNumberOfStrips(file);
    std::uint64_t end = 0;
    for (std::uint32_t i = 0; i < blocks; ++i) {
      end = std::max(end, TIFFGetStrileOffset(file, i) + TIFFGetStrileByteCount(file, i));
    }
    return end;
  }

  [[nodiscard]] Metadata metadata() const {
    char* description = nullptr;
    if (TIFFGetField(file_.get(), TIFFTAG_IMAGEDESCRIPTION, &description) != 1 || description == nullptr) return {};
    return parse_metadata_lines(description, "ImageDescription");
  }

  [[noreturn]] void fail() const { throw_io(path_, "a readable TIFF file", message_.text); }
  void require(bool condition, std::string_view expected, std::uint64_t got) const {
    require(condition, expected, fmt::format("{}", got));
  }
  void require(bool condition, std::string_view expected, const std::string& got) const {
    if (!condition) throw_io(path_, expected, got);
  }

  void read_tags() {
    TIFF* file = file_.get();
    std::uint32_t width = 0;
    std::uint32_t height = 0;
    if (TIFFGetField(file, TIFFTAG_IMAGEWIDTH, &width) != 1 || TIFFGetField(file, TIFFTAG_IMAGELENGTH, &height) != 1) {
      throw_io(path_, "width and height", "none");
    }
    nx_ = width;
    ny_ = height;
    TIFFGetFieldDefaulted(file, TIFFTAG_BITSPERSAMPLE, &bits_);
    TIFFGetFieldDefaulted(file, TIFFTAG_SAMPLESPERPIXEL, &samples_);
    TIFFGetFieldDefaulted(file, TIFFTAG_SAMPLEFORMAT, &format_);
    TIFFGetFieldDefaulted(file, TIFFTAG_PLANARCONFIG, &planar_);
    TIFFGetFieldDefaulted(file, TIFFTAG_COMPRESSION, &compression_);
    TIFFGetFieldDefaulted(file, TIFFTAG_ORIENTATION, &orientation_);
    if (TIFFGetField(file, TIFFTAG_PHOTOMETRIC, &photometric_) != 1) {
      photometric_ = samples_ >= 3 ? PHOTOMETRIC_RGB : PHOTOMETRIC_MINISBLACK;
    }
    if (photometric_ == PHOTOMETRIC_YCBCR && compression_ == COMPRESSION_JPEG) {
      TIFFSetField(file, TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);  // libjpeg converts the colours
      photometric_ = PHOTOMETRIC_RGB;
    }
  }

  void check_kind() {
    const bool grey = photometric_ == PHOTOMETRIC_MINISBLACK || photometric_ == PHOTOMETRIC_MINISWHITE;
    const bool palette = photometric_ == PHOTOMETRIC_PALETTE;
    require(grey || palette || photometric_ == PHOTOMETRIC_RGB || is_cmyk(), "grey, RGB, palette or CMYK pixels",
            describe_photometric(photometric_));
    require(TIFFIsCODECConfigured(compression_) == 1, "a compression that this build of libtiff decodes",
            describe_tiff_compression(compression_));
    if (is_cmyk()) check_inks();
    const std::string samples = counted(samples_, "sample");
    if (grey) require(samples_ == 1 || samples_ == 2, "1 or 2 samples a grey pixel", samples);
    if (palette) {
      require(samples_ == 1 && bits_ <= 8, "1 sample of at most 8 bits a palette pixel",
              fmt::format("{} of {}", samples, counted(bits_, "bit")));
    }
    if (photometric_ == PHOTOMETRIC_RGB)
      require(samples_ == 3 || samples_ == 4, "3 or 4 samples an RGB pixel", samples);
    if (format_ == SAMPLEFORMAT_IEEEFP) {
      require(bits_ == 16 || bits_ == 32 || bits_ == 64, "floats of 16, 32 or 64 bits", counted(bits_, "bit"));
      require(photometric_ != PHOTOMETRIC_MINISWHITE, "floats of which 0 is black", describe_photometric(photometric_));
      kind_ = Samples::floats;
    } else {
      require(format_ == SAMPLEFORMAT_UINT || format_ == SAMPLEFORMAT_VOID, "unsigned integers or floats",
              describe_sample_format(format_));
      require(bits_ == 1 || bits_ == 2 || bits_ == 4 || bits_ == 8 || bits_ == 16, "integers of 1, 2, 4, 8 or 16 bits",
              counted(bits_, "bit"));
      kind_ = bits_ == 16 ? Samples::codes16 : Samples::codes;
    }
  }

  void check_inks() const {
    TIFF* const file = file_.get();
    std::uint16_t ink_set = INKSET_CMYK;
    TIFFGetFieldDefaulted(file, TIFFTAG_INKSET, &ink_set);
    require(ink_set == INKSET_CMYK, "inks of CMYK (InkSet 1)", fmt::format("InkSet {}", ink_set));
    require(samples_ == 4, "4 samples a CMYK pixel", counted(samples_, "sample"));
    require(format_ == SAMPLEFORMAT_UINT && (bits_ == 8 || bits_ == 16), "CMYK of 8 or 16 bits",
            fmt::format("{} of {}", describe_sample_format(format_), counted(bits_, "bit")));
    // Writers differ in what no ink is.
    require(compression_ != COMPRESSION_JPEG, "CMYK that is not compressed by JPEG",
            describe_tiff_compression(compression_));
    std::uint16_t none = 0;
    std::uint16_t full = 0;
    if (TIFFGetField(file, TIFFTAG_DOTRANGE, &none, &full) != 1) return;
    require(none == 0 && full == (1U << bits_) - 1, "inks from 0 to all bits (DotRange)",
            fmt::format("{} to {}", none, full));
  }

  void read_codes(Image& image) {
    image.pixels = read_pixels<std::uint8_t>();
    if (photometric_ == PHOTOMETRIC_PALETTE) return expand_palette(image, read_palette(), bits_, path_);
    if (bits_ < 8) image.bits = bits_;
  }

  template <class T>
  void invert(Array<T, 3>& pixels) const {
    const auto most = static_cast<T>((1U << bits_) - 1);
    T* code = pixels.data();
    for (std::int64_t i = 0; i < pixels.size(); i += samples_) code[i] = static_cast<T>(most - code[i]);  // not alpha
  }

  [[nodiscard]] Palette read_palette() const {
    std::uint16_t* red = nullptr;
    std::uint16_t* green = nullptr;
    std::uint16_t* blue = nullptr;
    if (TIFFGetField(file_.get(), TIFFTAG_COLORMAP, &red, &green, &blue) != 1) throw_io(path_, "a palette", "none");
    const std::size_t count = std::size_t{1} << bits_;
    const auto is_small = [count](const std::uint16_t* codes) {
      return std::all_of(codes, codes + count, [](std::uint16_t code) { return code < 256; });
    };
    // The standard requires 16 bits; old writers used 8.
    const int shift = is_small(red) && is_small(green) && is_small(blue) ? 0 : 8;
    Palette palette;
    for (std::size_t i = 0; i < count; ++i) {
      palette.push_back({static_cast<std::uint8_t>(red[i] >> shift), static_cast<std::uint8_t>(green[i] >> shift),
                         static_cast<std::uint8_t>(blue[i] >> shift)});
    }
    return palette;
  }

  // One block (strip or tile) of one plane, and its destination.
  struct Block {
    std::uint64_t row = 0;
    std::uint64_t col = 0;
    std::uint64_t rows = 0;
    std::uint64_t cols = 0;
    std::uint64_t stride = 0;   // bytes of a row of the block
    std::uint64_t channel = 0;  // first channel
    std::uint64_t channels = 1;
  };

  template <class T>
  Array<T, 3> read_pixels() {
    auto pixels = make_pixels<T>(ny_, nx_, samples_);
    const bool tiled = TIFFIsTiled(file_.get()) != 0;
    const bool separate = planar_ == PLANARCONFIG_SEPARATE && samples_ > 1;
    std::uint32_t tile_cols = static_cast<std::uint32_t>(nx_);
    std::uint32_t tile_rows = static_cast<std::uint32_t>(ny_);
    if (tiled) {
      TIFFGetField(file_.get(), TIFFTAG_TILEWIDTH, &tile_cols);
      TIFFGetField(file_.get(), TIFFTAG_TILELENGTH, &tile_rows);
    } else {
      TIFFGetFieldDefaulted(file_.get(), TIFFTAG_ROWSPERSTRIP, &tile_rows);
      tile_rows = static_cast<std::uint32_t>(std::min<std::uint64_t>(tile_rows, ny_));
    }
    const tmsize_t size = tiled ? TIFFTileSize(file_.get()) : TIFFStripSize(file_.get());
    const tmsize_t stride = tiled ? TIFFTileRowSize(file_.get()) : TIFFScanlineSize(file_.get());
    if (size <= 0 || stride <= 0 || tile_cols == 0 || tile_rows == 0) fail();
    require(static_cast<std::uint64_t>(size) <= 2 * pixels.bytes() + largest_block_slack,
            "strips or tiles not much larger than the image", static_cast<std::uint64_t>(size));
    std::vector<std::uint8_t> buffer(static_cast<std::size_t>(size));
    Block block;
    block.stride = static_cast<std::uint64_t>(stride);
    block.channels = separate ? 1 : samples_;
    for (block.channel = 0; block.channel < samples_; block.channel += block.channels) {
      for (block.row = 0; block.row < ny_; block.row += tile_rows) {
        block.rows = std::min<std::uint64_t>(tile_rows, ny_ - block.row);
        for (block.col = 0; block.col < nx_; block.col += tile_cols) {
          block.cols = std::min<std::uint64_t>(tile_cols, nx_ - block.col);
          if (decode(block, tiled, buffer)) {
            place(block, buffer, pixels);
          } else {
            fill(block, static_cast<T>(missing_value()), pixels);
          }
        }
      }
    }
    if constexpr (std::is_integral_v<T>) {
      if (photometric_ == PHOTOMETRIC_MINISWHITE) invert(pixels);
    }
    return pixels;
  }

  /// False for a block that the file does not hold.
  bool decode(const Block& block, bool tiled, std::vector<std::uint8_t>& buffer) {
    TIFF* const file = file_.get();
    const auto row = static_cast<std::uint32_t>(block.row);
    const auto plane = static_cast<std::uint16_t>(block.channel);
    const auto size = static_cast<tmsize_t>(buffer.size());
    const auto index = tiled ? TIFFComputeTile(file, static_cast<std::uint32_t>(block.col), row, 0, plane)
                             : TIFFComputeStrip(file, row, plane);
    if (TIFFGetStrileOffset(file, index) == 0) {
      if (TIFFGetStrileByteCount(file, index) != 0) throw_io(path_, "strips and tiles behind the header", "offset 0");
      ++missing_blocks_;
      return false;
    }
    const tmsize_t got = tiled ? TIFFReadEncodedTile(file, index, buffer.data(), size)
                               : TIFFReadEncodedStrip(file, index, buffer.data(), size);
    if (got < 0) fail();
    const std::uint64_t needed = block.stride * block.rows;
    if (static_cast<std::uint64_t>(got) < needed) {
      throw_io(path_, fmt::format("{} bytes in the block at row {}", needed, block.row), fmt::format("{}", got));
    }
    return true;
  }

  template <class T>
  void fill(const Block& block, T value, Array<T, 3>& pixels) const {
    for (std::uint64_t r = 0; r < block.rows; ++r) {
      for (std::uint64_t c = 0; c < block.cols; ++c) {
        T* target = pixels.data() + ((block.row + r) * nx_ + block.col + c) * samples_ + block.channel;
        std::fill_n(target, block.channels, value);
      }
    }
  }

  template <class T>
  void place(const Block& block, const std::vector<std::uint8_t>& buffer, Array<T, 3>& pixels) const {
    if ((block.cols * block.channels * bits_ + 7) / 8 > block.stride) fail();
    for (std::uint64_t r = 0; r < block.rows; ++r) {
      const std::uint8_t* source = buffer.data() + r * block.stride;
      for (std::uint64_t c = 0; c < block.cols; ++c) {
        T* target = pixels.data() + ((block.row + r) * nx_ + block.col + c) * samples_ + block.channel;
        for (std::uint64_t k = 0; k < block.channels; ++k) target[k] = sample<T>(source, c * block.channels + k);
      }
    }
  }

  template <class T>
  [[nodiscard]] T sample(const std::uint8_t* row, std::uint64_t index) const {
    if constexpr (std::is_same_v<T, std::uint8_t>) {
      if (bits_ == 8) return row[index];
      const std::uint64_t bit = index * bits_;
      return static_cast<std::uint8_t>((row[bit / 8] >> (8 - bits_ - bit % 8)) & ((1u << bits_) - 1));
    } else if constexpr (std::is_same_v<T, float>) {
      if (bits_ == 16) {
        std::uint16_t half = 0;
        std::memcpy(&half, row + 2 * index, 2);
        return float_of_half(half);
      }
      if (bits_ == 64) {
        double value = 0;
        std::memcpy(&value, row + 8 * index, 8);
        return static_cast<float>(value);
      }
    }
    T value;
    std::memcpy(&value, row + sizeof(T) * index, sizeof(T));
    return value;
  }

  std::string_view path_;
  Source source_;
  std::string_view part_;
  TiffPages pages_;
  TiffMessage message_;
  TiffHandle file_;
  std::uint64_t nx_ = 0;
  std::uint64_t ny_ = 0;
  std::uint16_t bits_ = 1;
  std::uint16_t samples_ = 1;
  std::uint16_t format_ = SAMPLEFORMAT_UINT;
  std::uint16_t planar_ = PLANARCONFIG_CONTIG;
  std::uint16_t compression_ = COMPRESSION_NONE;
  std::uint16_t orientation_ = ORIENTATION_TOPLEFT;
  std::uint16_t photometric_ = PHOTOMETRIC_MINISBLACK;
  Samples kind_ = Samples::codes;
  std::uint64_t missing_blocks_ = 0;
};

}  // namespace

Image read_tiff(std::string_view bytes, std::string_view path, const ImageReadOptions& options) {
  return TiffReader(bytes, path).read(options);
}

Image read_tiff_page(const std::string& path, const ImageReadOptions& options) {
  const FilePart named = split_part(path);
  std::uint64_t size = 0;
  const FileHandle file = open_file(named.file, size);
  return TiffReader(file, size, path, named.part).read(options);
}

ImageHead read_tiff_head(const std::string& path) {
  const FilePart named = split_part(path);
  std::uint64_t size = 0;
  const FileHandle file = open_file(named.file, size);
  return TiffReader(file, size, path, named.part).head();
}
#else
Image read_tiff_page(const std::string& path, const ImageReadOptions& options) { return read_tiff({}, path, options); }
ImageHead read_tiff_head(const std::string& path) {
  (void)read_tiff({}, path, {});
  return {};
}
Image read_tiff(std::string_view, std::string_view path, const ImageReadOptions&) {
  throw Error(ErrorCode::unsupported, std::string(path) + ": expected a build with libtiff for TIFF, got one without");
}
#endif

}  // namespace holotone::io

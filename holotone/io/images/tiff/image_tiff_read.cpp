#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/io/file_bytes_detail.hpp>
#include <holotone/io/file_part_detail.hpp>
#include <holotone/io/images/image_formats_detail.hpp>
#include <holotone/io/metadata_text_detail.hpp>

#if HOLOTONE_TIFF
#include <algorithm>
#include <cmath>
#include <holotone/io/images/colour_profile_detail.hpp>
#include <holotone/io/images/light_codes_detail.hpp>
#include <holotone/io/images/orientation_detail.hpp>
#include <holotone/io/images/tiff/tiff_cameras_detail.hpp>
#include <holotone/io/images/tiff/tiff_facts_detail.hpp>
#include <holotone/io/images/tiff/tiff_gdal_detail.hpp>
#include <holotone/io/images/tiff/tiff_imagej_detail.hpp>
#include <holotone/io/images/tiff/tiff_input_detail.hpp>
#include <holotone/io/images/tiff/tiff_mask_detail.hpp>
#include <holotone/io/images/tiff/tiff_ome_detail.hpp>
#include <holotone/io/images/tiff/tiff_palette_detail.hpp>
#include <holotone/io/images/tiff/tiff_samples_detail.hpp>
#include <holotone/io/images/tiff/tiff_tags_detail.hpp>
#include <holotone/io/images/tiff/tiff_unknown_detail.hpp>
#include <optional>
#include <vector>
#endif

namespace holotone::io {

#if HOLOTONE_TIFF
namespace {

constexpr std::uint64_t max_pixel_bytes = std::uint64_t{1} << 62;  // of a head that is read alone

class TiffReader {
 public:
  TiffReader(std::string_view bytes, std::string_view path) : path_(path), input_(bytes, path) { enter_page(); }
  /// `part`: number of the page; empty: the first.
  TiffReader(const FileHandle& file, std::uint64_t size, std::string_view path, std::string_view part)
      : path_(path), part_(part), input_(file, size, path) {
    enter_page();
  }

  ImageHead head() {
    check_head(max_pixel_bytes);
    std::int64_t channels = tags_.is_cmyk() ? 3 : tags_.samples;
    int bits = tags_.kind == TiffSamples::floats ? 0 : tags_.bits;
    if (tags_.photometric == PHOTOMETRIC_PALETTE) {
      Image first{Array<std::uint8_t, 3>({1, 1, 1}), {}};
      std::get<Array<std::uint8_t, 3>>(first.pixels).data()[0] = 0;
      expand_palette(first, read_tiff_palette(input_.get(), tags_.bits, path_), tags_.bits, path_);
      channels = shape_of(first)[2];
      bits = element_bytes() == 2 ? 16 : code_bits(first);
    }
    return {turned({static_cast<std::int64_t>(tags_.ny), static_cast<std::int64_t>(tags_.nx), channels}, orientation()),
            static_cast<int>(element_bytes()),
            bits,
            metadata(),
            pixels_end(),
            input_.size(),
            page_notes({})};
  }

  Image read(const ImageReadOptions& options) {
    check_head(maximum_image_bytes);
    Image image;
    image.notes = page_notes(options);
    require_room(options);
    read_stored(image);
    const auto mask = find_mask(image);
    const bool direct = tags_.photometric == PHOTOMETRIC_MINISBLACK || tags_.photometric == PHOTOMETRIC_RGB;
    if (const auto bits = ome_significant_bits(description())) {
      take_significant_bits(image, *bits, direct, "OME-XML", path_);
    } else if (const auto depth = micro_manager_bits(input_.get())) {
      take_significant_bits(image, *depth, direct, "Micro-Manager", path_);
    }
    if (alpha() == EXTRASAMPLE_ASSOCALPHA) {
      const std::uint64_t opaque = (std::uint64_t{1} << code_bits(image)) - 1;
      std::visit([&](auto& pixels) { divide_by_alpha(pixels, opaque); }, image.pixels);
    }
    if (alpha() == EXTRASAMPLE_UNSPECIFIED) {
      image.notes.push_back(fmt::format("{}: the meaning of sample {} is unspecified (ExtraSamples 0): taken as alpha",
                                        path_, tags_.samples));
    }
    image.lossy = tags_.is_jpeg();
    image.metadata = metadata();
    note_facts(image, options.as_depth);
    if (tags_.is_cmyk()) {
      make_rgb(image, tiff_colours(input_).profile, options.as_light, path_);
    } else {
      take_colours(image, tiff_colours(input_), options, path_);
    }
    if (mask) apply_mask(image, *mask);
    turn(image, orientation());
    return image;
  }

 private:
  void enter_page() {
    first_description_ = read_description();
    const auto read = [this](char* target, std::uint64_t count, std::uint64_t position) {
      return input_.read(target, count, position);
    };
    pages_ = find_tiff_pages(read, input_.size());
    const std::int64_t count = std::max<std::int64_t>(std::ssize(pages_.directories), 1);
    const std::int64_t page = part_.empty() ? 0 : part_index(part_, count, "pages", path_);
    if (!pages_.masks.empty()) mask_ = pages_.masks[static_cast<std::size_t>(page)];
    if (pages_.directories.empty() || (part_.empty() && enter_full_picture(input_.get()))) return;
    if (page == 0 && !first_is_copy()) return;
    input_.enter(pages_.directories[static_cast<std::size_t>(page)]);
  }

  /// True if the file begins with a reduced copy or a mask, which libtiff reads first.
  [[nodiscard]] bool first_is_copy() const { return TIFFCurrentDirOffset(input_.get()) != pages_.directories.front(); }

  /// What a file of several pages leaves open. Throws io if it must not.
  [[nodiscard]] std::vector<std::string> page_notes(const ImageReadOptions& options) const {
    std::vector<std::string> notes;
    const auto count = pages_.directories.size();
    const std::pair<std::string_view, std::int64_t> claims[] = {{"ImageJ", imagej_pictures(description())},
                                                                {"MetaMorph", metamorph_pictures(input_.get())},
                                                                {"OME-XML", ome_pictures(description(), tags_.samples)},
                                                                {"ImageDepth", planes_of_volume(input_.get())}};
    for (const auto& [source, stated] : claims) {
      if (stated <= static_cast<std::int64_t>(count)) continue;
      notes.push_back(fmt::format("{}: {} states {} pictures, of which {} can be read", path_, source, stated, count));
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

  void note_facts(Image& image, bool as_depth) const {
    TIFF* const file = input_.get();
    if (is_reduced_copy(file)) {
      image.notes.push_back(fmt::format("{}: holds a reduced copy of a picture alone (NewSubfileType 1)", path_));
    }
    if (gaps_.count > 0) {
      image.notes.push_back(fmt::format("{}: {} not in the file (offset 0): read as {:g}", path_,
                                        counted(gaps_.count, TIFFIsTiled(file) != 0 ? "tile" : "strip"), gaps_.value));
    }
    note_reference_black(file, image, path_);
    note_no_data(tiff_no_data(file), image, path_);
    note_gdal_metadata(file, image, as_depth, path_);
    note_geographic_places(file, image, path_);
    note_imagej_calibration(description(), image, as_depth, path_);
    note_ome_companion(description(), image, path_);
    if (!note_ome_aspect(description(), image, path_)) note_tiff_facts(file, image, path_);
    note_xmp_orientation(image, xmp_orientation(tiff_xmp(file)), orientation(), path_);
    note_text_numbers(description(), "ImageDescription", image, path_);
    for (const auto& [tag, name] : {std::pair{TIFFTAG_DOCUMENTNAME, "DocumentName"}, {TIFFTAG_PAGENAME, "PageName"}}) {
      const char* text = nullptr;
      if (TIFFGetField(file, tag, &text) == 1 && text != nullptr) note_text_numbers(text, name, image, path_);
    }
    note_unknown_tags(input_, image, path_);
  }

  /// The transparency mask behind the page or in its SubIFDs, if it is of the same size; a note for others.
  std::optional<TransparencyMask> find_mask(Image& image) const {
    TIFF* const file = input_.get();
    const std::uint64_t page = TIFFCurrentDirOffset(file);
    std::vector<std::uint64_t> directories = sub_directories(file);
    if (mask_ != 0) directories.push_back(mask_);
    std::optional<TransparencyMask> found;
    for (const auto directory : directories) {
      const bool entered = TIFFSetSubDirectory(file, directory) == 1;
      if (!entered && directory == mask_) input_.fail();
      if (found || !entered || !is_transparency_mask(file)) continue;
      std::uint32_t width = 0;
      std::uint32_t height = 0;
      TIFFGetField(file, TIFFTAG_IMAGEWIDTH, &width);
      TIFFGetField(file, TIFFTAG_IMAGELENGTH, &height);
      if (width == tags_.nx && height == tags_.ny) {
        found = read_tiff_mask(input_);
      } else {
        image.notes.push_back(fmt::format("{}: a transparency mask of {} x {} pixels is not applied to {} x {}", path_,
                                          width, height, tags_.nx, tags_.ny));
      }
    }
    if (!directories.empty()) input_.enter(page);
    return found;
  }

  /// Of pixels whose strip or tile is not stored, as GDAL reads them.
  [[nodiscard]] double missing_value() const {
    const double value = tiff_no_data(input_.get()).value_or(0);
    if (tags_.kind == TiffSamples::floats) return value;
    return value >= 0 && value < std::ldexp(1.0, tags_.bits) ? value : 0;
  }

  /// ExtraSamples of the sample behind the colours; none without one.
  [[nodiscard]] std::optional<std::uint16_t> alpha() const {
    if (tags_.samples % 2 == 1 || tags_.is_cmyk()) return std::nullopt;
    std::uint16_t count = 0;
    std::uint16_t* kinds = nullptr;
    const bool stated = TIFFGetFieldDefaulted(input_.get(), TIFFTAG_EXTRASAMPLES, &count, &kinds) == 1 && count > 0;
    return stated ? kinds[0] : static_cast<std::uint16_t>(EXTRASAMPLE_UNSPECIFIED);
  }

  [[nodiscard]] Orientation orientation() const { return orientation_of(tags_.orientation); }

  /// Of the picture: a palette of 16 bits a colour makes more of its indices.
  [[nodiscard]] std::uint64_t element_bytes() const {
    return wide_palette(input_.get()).empty() ? tags_.element_bytes() : 2;
  }

  void check_head(std::uint64_t most) {
    tags_ = read_tiff_tags(input_.get(), path_);
    if (tags_.kind == TiffSamples::codes16 && is_imagej_signed(description())) {
      throw_io(path_, "unsigned integers or floats", "signed integers plus 32768 (ImageJ, c0=-32768)");
    }
    check_tiff_extents(tags_, element_bytes(), input_.size(), path_, most);
  }

  void require_room(const ImageReadOptions& options) const {
    const Shape<3> stored{static_cast<std::int64_t>(tags_.ny), static_cast<std::int64_t>(tags_.nx),
                          tags_.is_cmyk() ? 3 : tags_.samples};
    const auto element = static_cast<std::int64_t>(element_bytes()) * (tags_.is_cmyk() ? 4 : 1);
    require_accepted(turned(stored, orientation()), turning_bytes(mask_ != 0 ? 3 * element : element, orientation()),
                     options, path_);
  }

  /// Codes of palettes as their colours; all others as they are stored.
  void read_stored(Image& image) {
    gaps_.value = missing_value();
    switch (tags_.kind) {
      case TiffSamples::codes16: image.pixels = read_tiff_samples<std::uint16_t>(input_, tags_, gaps_); return;
      case TiffSamples::floats: image.pixels = read_tiff_samples<float>(input_, tags_, gaps_); return;
      case TiffSamples::codes: break;
    }
    auto codes = read_tiff_samples<std::uint8_t>(input_, tags_, gaps_);
    if (const auto palette = wide_palette(input_.get()); !palette.empty()) {
      image.pixels = expand_wide_palette(codes, palette);
      return;
    }
    image.pixels = std::move(codes);
    if (tags_.photometric == PHOTOMETRIC_PALETTE) {
      expand_palette(image, read_tiff_palette(input_.get(), tags_.bits, path_), tags_.bits, path_);
    } else if (tags_.bits < 8) {
      image.bits = tags_.bits;
    }
  }

  [[nodiscard]] std::uint64_t pixels_end() const {
    TIFF* const file = input_.get();
    const std::uint32_t blocks = TIFFIsTiled(file) != 0 ? TIFFNumberOfTiles(file) : TIFFNumberOfStrips(file);
    std::uint64_t end = 0;
    for (std::uint32_t i = 0; i < blocks; ++i) {
      end = std::max(end, TIFFGetStrileOffset(file, i) + TIFFGetStrileByteCount(file, i));
    }
    return end;
  }

  [[nodiscard]] Metadata metadata() const {
    const std::string text = read_description();
    return text.empty() ? Metadata{} : parse_metadata_lines(text, "ImageDescription");
  }

  [[nodiscard]] std::string read_description() const {
    char* text = nullptr;
    return TIFFGetField(input_.get(), TIFFTAG_IMAGEDESCRIPTION, &text) == 1 && text != nullptr ? text : "";
  }

  /// Of the page, or of the file's first directory, where ImageJ and OME-TIFF describe all pages.
  [[nodiscard]] std::string description() const {
    std::string text = read_description();
    return text.empty() ? first_description_ : text;
  }

  std::string_view path_;
  std::string_view part_;
  TiffInput input_;
  TiffPages pages_;
  std::string first_description_;
  TiffTags tags_;
  TiffGaps gaps_;
  std::uint64_t mask_ = 0;  ///< offset of the directory
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

// clang-format off: jpeglib.h needs FILE and size_t declared before it
#include <cstddef>
#include <cstdio>
#include <jerror.h>
#include <jpeglib.h>
// clang-format on

#include <algorithm>
#include <csetjmp>
#include <holotone/core/error.hpp>
#include <holotone/io/file_bytes_detail.hpp>
#include <holotone/io/images/colour_profile_detail.hpp>
#include <holotone/io/images/exif_colours_detail.hpp>
#include <holotone/io/images/image_formats_detail.hpp>
#include <holotone/io/images/jpeg_segments_detail.hpp>
#include <holotone/io/images/light_codes_detail.hpp>
#include <holotone/io/images/orientation_detail.hpp>
#include <holotone/io/images/pixel_aspect_detail.hpp>
#include <type_traits>
#include <vector>

namespace holotone::io {
namespace {

constexpr std::uint64_t largest_ratio = 2000;  // progressive blocks of one colour come near it
constexpr int max_scans = 200;                 // a file with a few bytes per scan could take hours otherwise

constexpr int exif_marker = JPEG_APP0 + 1;
constexpr int profile_marker = JPEG_APP0 + 2;
constexpr int adobe_marker = JPEG_APP0 + 14;
constexpr int last_marker = JPEG_APP0 + 15;
constexpr unsigned longest_marker = 0xffff;
constexpr unsigned longest_name = 32;  // of what is not read

// libjpeg's own state is first, so that its callbacks reach the rest through their pointer.
struct ErrorState {
  jpeg_error_mgr manager;
  std::jmp_buf jump;
  char message[JMSG_LENGTH_MAX];
};
struct ProgressState {
  jpeg_progress_mgr manager;
};

extern "C" {
static void leave(j_common_ptr info) {
  auto* state = reinterpret_cast<ErrorState*>(info->err);
  info->err->format_message(info, state->message);
  std::longjmp(state->jump, 1);
}
// Warnings (level -1) mean damaged or missing data: an error here, except for stray bytes between markers.
static void warn(j_common_ptr info, int level) {
  if (level < 0 && info->err->msg_code != JWRN_EXTRANEOUS_DATA) leave(info);
}
static void print_nothing(j_common_ptr) {}
static void limit_scans(j_common_ptr info) {
  if (info->is_decompressor == FALSE) return;
  if (reinterpret_cast<j_decompress_ptr>(info)->input_scan_number > max_scans) {
    info->err->msg_code = JERR_BAD_PROGRESSION;
    leave(info);
  }
}
}

class JpegReader {
 public:
  JpegReader(std::string_view bytes, std::string_view path) : bytes_(bytes), path_(path) {
    info_.err = jpeg_std_error(&error_.manager);
    error_.manager.error_exit = leave;
    error_.manager.emit_message = warn;
    error_.manager.output_message = print_nothing;
    progress_.manager.progress_monitor = limit_scans;
  }
  ~JpegReader() {
    if (created_) jpeg_destroy_decompress(&info_);
  }
  JpegReader(const JpegReader&) = delete;
  JpegReader& operator=(const JpegReader&) = delete;

  Image read(const ImageReadOptions& options) {
    attempt([this] {
      jpeg_create_decompress(&info_);
      created_ = true;
      info_.progress = &progress_.manager;
      jpeg_mem_src(&info_, reinterpret_cast<const unsigned char*>(bytes_.data()), bytes_.size());
      jpeg_save_markers(&info_, exif_marker, longest_marker);
      jpeg_save_markers(&info_, profile_marker, longest_marker);
      for (int marker = profile_marker + 1; marker <= last_marker; ++marker) {
        if (marker != adobe_marker) jpeg_save_markers(&info_, marker, longest_name);  // libjpeg itself reads Adobe's
      }
      jpeg_read_header(&info_, TRUE);
    });
    const bool inks = info_.num_components == 4;
    if (info_.num_components != 1 && info_.num_components != 3 && !inks) {
      throw_io(path_, "a JPEG of 1 (grey), 3 (colours) or 4 (CMYK) components", std::to_string(info_.num_components));
    }
    if (inks && info_.saw_Adobe_marker == FALSE) {
      throw_io(path_, "a CMYK JPEG with Adobe's marker, which says that 255 is no ink", "none; convert it to RGB");
    }
    info_.out_color_space = inks ? JCS_CMYK : info_.num_components == 1 ? JCS_GRAYSCALE : JCS_RGB;
    const auto channels = static_cast<std::uint64_t>(info_.num_components);
    check_extents(info_.image_height, info_.image_width, channels, 1, bytes_.size(), largest_ratio, path_);
    const Shape<3> stored{info_.image_height, info_.image_width, std::min<std::int64_t>(info_.num_components, 3)};
    // libjpeg forgets the segments with the last row.
    const auto segments = list_segments();
    const std::string_view exif = jpeg_exif(segments);
    const Orientation orientation = exif_orientation(exif);
    ColourClaim claim = jpeg_profile(segments);
    if (claim.profile.empty() && claim.unsupported.empty()) claim = exif_colours(exif);
    Image image;
    note_xmp_orientation(image, xmp_orientation(jpeg_xmp(segments)), orientation, path_);
    note_jpeg_pictures(image, segments, path_);
    note_unknown_segments(image, segments, path_);
    const std::int64_t element_bytes = inks ? 4 : 1;  // of the inks and of 16-bit colours together, a channel
    require_accepted(turned(stored, orientation), turning_bytes(element_bytes, orientation), options, path_);
    auto pixels = make_pixels<std::uint8_t>(info_.image_height, info_.image_width, channels);
    unsigned char* target = pixels.data();
    const std::size_t row_bytes = std::size_t{info_.image_width} * channels;
    attempt([this, target, row_bytes] {
      jpeg_start_decompress(&info_);
      while (info_.output_scanline < info_.output_height) {
        JSAMPROW row = target + info_.output_scanline * row_bytes;
        jpeg_read_scanlines(&info_, &row, 1);
      }
      jpeg_finish_decompress(&info_);
    });
    image.pixels = std::move(pixels);
    image.lossy = true;
    if (inks) {
      auto& codes = std::get<Array<std::uint8_t, 3>>(image.pixels);
      for (auto& code : codes.host()) code = static_cast<std::uint8_t>(255 - code);  // Adobe's are inverted
      make_rgb(image, claim.profile, options.as_light, path_);
    } else {
      take_colours(image, claim, options, path_);
    }
    if (info_.saw_JFIF_marker != FALSE) note_pixel_aspect(image, info_.X_density, info_.Y_density, path_);
    turn(image, orientation);
    return image;
  }

 private:
  [[nodiscard]] std::vector<JpegSegment> list_segments() const {
    std::vector<JpegSegment> segments;
    for (const auto* marker = info_.marker_list; marker != nullptr; marker = marker->next) {
      segments.push_back(
          {marker->marker - JPEG_APP0, {reinterpret_cast<const char*>(marker->data), marker->data_length}});
    }
    return segments;
  }

  // Runs libjpeg calls whose errors longjmp back here. Neither the calls nor the step may own objects with a
  // destructor.
  template <class Step>
  void attempt(Step step) {
    if (!survives(error_, step)) throw_io(path_, "a readable JPEG file", error_.message);
  }
  template <class Step>
  static bool survives(ErrorState& error, Step& step) {
    if (setjmp(error.jump) != 0) return false;
    step();
    return true;
  }

  std::string_view bytes_;
  std::string_view path_;
  ErrorState error_{};
  ProgressState progress_{};
  jpeg_decompress_struct info_{};
  bool created_ = false;
};

}  // namespace

bool is_jpeg(std::string_view bytes) { return bytes.starts_with("\xff\xd8\xff"); }

Image read_jpeg(std::string_view bytes, std::string_view path, const ImageReadOptions& options) {
  return JpegReader(bytes, path).read(options);
}

}  // namespace holotone::io

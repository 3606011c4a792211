#pragma once
// PNG files by rows or at once, from memory or from a file. Not for users.
#include <cstdint>
#include <cstring>
#include <holotone/io/images/colour_profile_detail.hpp>
#include <holotone/io/images/image_formats_detail.hpp>
#include <holotone/io/images/orientation_detail.hpp>
#include <holotone/io/images/pixel_aspect_detail.hpp>
#include <png.h>
#include <string>
#include <string_view>
#include <vector>

namespace holotone::io {

/// Sequential input. Functions are noexcept, because exceptions must not pass through libpng.
class PngInput {
 public:
  virtual ~PngInput() = default;
  /// Returns false if there are fewer bytes, or on a read error.
  virtual bool take(char* target, std::size_t count) noexcept = 0;
  [[nodiscard]] virtual std::uint64_t size() const noexcept = 0;
  virtual void go_to(std::uint64_t position) noexcept = 0;
};

class MemoryInput final : public PngInput {
 public:
  explicit MemoryInput(std::string_view bytes) : bytes_(bytes) {}
  bool take(char* target, std::size_t count) noexcept override {
    if (count > bytes_.size() - at_) return false;
    std::memcpy(target, bytes_.data() + at_, count);
    at_ += count;
    return true;
  }
  [[nodiscard]] std::uint64_t size() const noexcept override { return bytes_.size(); }
  void go_to(std::uint64_t position) noexcept override { at_ = static_cast<std::size_t>(position); }

 private:
  std::string_view bytes_;
  std::size_t at_ = 0;
};

/// What the chunks say before libpng reads them; an EXIF block may follow the pixels.
struct PngChunks {
  std::uint64_t image = 0;  ///< sum of the IDAT chunks
  std::size_t largest = 0;
  Orientation orientation = Orientation::top_left;
  Orientation xmp_orientation = Orientation::top_left;
  bool profile = false;       ///< libpng leaves damaged and long ones out
  std::string raw_profile{};  ///< ICC in text, as ImageMagick writes it
  std::string video_code{};   ///< data of cICP
  std::uint32_t frames = 0;   ///< of an animation (acTL)
  bool stereo = false;        ///< two views side by side (sTER)
  PictureSides canvas;        ///< from which the picture was cropped (caNv, vpAg)
  ColourClaim exif_colours{};
  std::vector<std::string> unknown{};  ///< types that are neither known nor harmless
};

/// Reads a PNG file. Palettes stay indices {ny, nx, 1}; greys of 1, 2 or 4 bits stay codes; transparency becomes alpha.
class PngReader {
 public:
  static constexpr std::size_t message_bytes = 128;
  /// Reads the header. Throws io as read_image does. `input` must outlive the reader.
  PngReader(PngInput& input, std::string_view path);
  ~PngReader();
  PngReader(const PngReader&) = delete;
  PngReader& operator=(const PngReader&) = delete;

  [[nodiscard]] Shape<3> shape() const { return shape_; }  ///< as stored
  [[nodiscard]] Orientation orientation() const { return chunks_.orientation; }
  [[nodiscard]] int bits() const { return bits_; }            ///< 8 or 16 per element
  [[nodiscard]] int code_bits() const { return code_bits_; }  ///< 1, 2 or 4; 0: those of the element
  [[nodiscard]] bool is_indexed() const { return is_indexed_; }
  [[nodiscard]] int index_bits() const { return static_cast<int>(stored_bits_); }  ///< of a palette's index
  [[nodiscard]] bool is_interlaced() const { return is_interlaced_; }
  /// True if the codes lie in the file as they are read, row after row.
  [[nodiscard]] bool is_plain() const {
    return !is_indexed_ && !is_interlaced_ && stored_bits_ == static_cast<std::uint64_t>(shape_[2] * bits_);
  }
  [[nodiscard]] Palette palette() const;
  [[nodiscard]] std::vector<std::uint8_t> palette_alpha() const;  ///< of the first entries; empty: all are opaque
  [[nodiscard]] ColourClaim colours() const;
  /// Adds notes of an animation, whose still picture is read, of two views and of pixels that are not square.
  void note_facts(Image& image) const;
  /// Metadata read so far; text may follow the pixels.
  [[nodiscard]] Metadata metadata() const;
  /// Reads the next rows, in native order; not for an interlaced picture.
  void read_rows(std::uint8_t* rows, std::int64_t count);
  /// Reads all rows, to the file's end.
  void read_all(std::uint8_t* rows);

 private:
  template <class Step>
  void attempt(Step step);
  void open();
  void set_expansion();
  void check_pixels(std::uint64_t ny, std::uint64_t nx, std::uint64_t channels, std::uint64_t bytes) const;
  [[nodiscard]] std::vector<std::uint8_t*> pointers(std::uint8_t* rows, std::int64_t count) const;

  std::string path_;
  PngInput& input_;
  PngChunks chunks_;
  Shape<3> shape_{};
  int bits_ = 8;
  int code_bits_ = 0;
  std::uint64_t stored_bits_ = 8;  // per pixel in the file
  bool is_indexed_ = false;
  bool is_interlaced_ = false;
  char message_[message_bytes] = {};
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
};

}  // namespace holotone::io

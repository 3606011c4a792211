#include <holotone/io/images/tiff/tiff_exif_detail.hpp>

#if HOLOTONE_TIFF
#include <bit>
#include <holotone/io/file_bytes_detail.hpp>
#include <holotone/io/images/exif_colours_detail.hpp>
#include <optional>
#include <string>

namespace holotone::io {
namespace {

constexpr std::uint16_t tag_colour_space = 0xa001;
constexpr std::uint16_t tag_interoperability = 0xa005;
constexpr std::uint16_t tag_index = 1;
constexpr std::uint64_t max_entries = 4096;

/// Directories that libtiff does not enter, of TIFF and BigTIFF.
class ExifDirectories {
 public:
  explicit ExifDirectories(const TiffInput& input) : input_(input) {
    const std::string head = bytes_at(0, 4);
    if (head.size() < 4) return;
    order_ = head[0] == 'M' ? std::endian::big : std::endian::little;
    is_big_ = load<std::uint16_t>(head.data() + 2, order_) == 43;
  }

  /// The bytes of an entry: its tag, type, count and value, or the value's offset.
  [[nodiscard]] std::optional<std::string> find(std::uint64_t directory, std::uint16_t tag) const {
    const std::string table = table_at(directory);
    for (std::size_t at = 0; at + entry_bytes() <= table.size(); at += entry_bytes()) {
      if (load<std::uint16_t>(table.data() + at, order_) == tag) {
        return table.substr(at, entry_bytes());
      }
    }
    return std::nullopt;
  }

  [[nodiscard]] std::vector<std::uint16_t> list(std::uint64_t directory) const {
    const std::string table = table_at(directory);
    std::vector<std::uint16_t> tags;
    for (std::size_t at = 0; at + entry_bytes() <= table.size(); at += entry_bytes()) {
      tags.push_back(load<std::uint16_t>(table.data() + at, order_));
    }
    return tags;
  }

  /// The first number of an entry of 16, 32 or 64 bits.
  [[nodiscard]] std::uint64_t number(const std::string& entry) const {
    const char* const at = text(entry).data();
    switch (load<std::uint16_t>(entry.data() + 2, order_)) {
      case TIFF_SHORT: return load<std::uint16_t>(at, order_);
      case TIFF_LONG:
      case TIFF_IFD: return load<std::uint32_t>(at, order_);
      default: return is_big_ ? load<std::uint64_t>(at, order_) : 0;
    }
  }
  [[nodiscard]] std::string_view text(const std::string& entry) const {
    return std::string_view(entry).substr(is_big_ ? 12 : 8);
  }

 private:
  [[nodiscard]] std::size_t entry_bytes() const { return is_big_ ? 20 : 12; }

  /// Entries of a directory; empty for a damaged one.
  [[nodiscard]] std::string table_at(std::uint64_t directory) const {
    const std::uint64_t count_bytes = is_big_ ? 8 : 2;
    const std::string head = bytes_at(directory, count_bytes);
    if (directory < 8 || head.empty()) return {};
    const std::uint64_t count =
        is_big_ ? load<std::uint64_t>(head.data(), order_) : load<std::uint16_t>(head.data(), order_);
    if (count > max_entries) return {};
    return bytes_at(directory + count_bytes, count * entry_bytes());
  }

  /// Empty if they do not lie in the file.
  [[nodiscard]] std::string bytes_at(std::uint64_t at, std::uint64_t count) const {
    if (at > input_.size() || count > input_.size() - at) return {};
    std::string bytes(count, '\0');
    return input_.read(bytes.data(), count, at) ? bytes : std::string();
  }

  const TiffInput& input_;
  std::endian order_ = std::endian::little;
  bool is_big_ = false;
};

}  // namespace

ColourClaim tiff_exif_colours(const TiffInput& input) {
  toff_t exif = 0;
  if (TIFFGetField(input.get(), TIFFTAG_EXIFIFD, &exif) != 1) return {};
  const ExifDirectories directories(input);
  const auto space = directories.find(exif, tag_colour_space);
  if (!space) return {};
  const auto rules = directories.find(exif, tag_interoperability);
  const auto index = rules ? directories.find(directories.number(*rules), tag_index) : std::nullopt;
  return claim_of_exif(static_cast<std::uint16_t>(directories.number(*space)),
                       index ? directories.text(*index) : std::string_view());
}

std::vector<std::uint16_t> list_tiff_tags(const TiffInput& input) {
  return ExifDirectories(input).list(TIFFCurrentDirOffset(input.get()));
}

}  // namespace holotone::io
#endif

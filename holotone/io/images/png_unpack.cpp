#include <algorithm>
#include <bit>
#include <cstdlib>
#include <holotone/core/parallel.hpp>
#include <holotone/io/file_bytes_detail.hpp>
#include <holotone/io/images/png_bands_detail.hpp>
#include <holotone/io/images/png_unpack_detail.hpp>
#include <utility>
#include <vector>
#include <zlib.h>

namespace holotone::io {
namespace {

constexpr std::size_t signature_bytes = 8;
constexpr std::size_t chunk_overhead = 12;

const Bytef* to_bytes(std::string_view text) { return reinterpret_cast<const Bytef*>(text.data()); }

std::uint32_t big_endian(std::string_view bytes) { return load<std::uint32_t>(bytes.data(), std::endian::big); }

bool has_its_checksum(std::string_view data) {
  return crc32_z(0, to_bytes(data) - 4, data.size() + 4) == big_endian({data.data() + data.size(), 4});
}

/// The data of the IDAT chunks, which nothing but IEND follows; none if the file is of another kind.
std::vector<std::string_view> image_chunks(std::string_view file) {
  std::vector<std::string_view> chunks;
  for (std::size_t at = signature_bytes; at + chunk_overhead <= file.size();) {
    const std::size_t length = big_endian(file.substr(at, 4));
    if (length > file.size() - at - chunk_overhead) return {};
    const std::string_view type = file.substr(at + 4, 4);
    const std::string_view data = file.substr(at + 8, length);
    at += length + chunk_overhead;
    if (type == "IEND" && has_its_checksum(data)) return chunks;
    if (type != "IDAT") {
      if (!chunks.empty()) return {};
      continue;
    }
    chunks.push_back(data);
  }
  return {};
}

/// One band of rows, as unpacked, each with the number of its filter before it.
struct Band {
  std::vector<std::uint8_t> bytes;
  std::uint32_t sum = 0;  ///< Adler's
  bool is_whole = false;
};

/// Unpacks a band that ends with its chunk: the last of the stream, or one with more to come.
Band unpacked(std::string_view data, bool last, std::size_t line, std::size_t rows) {
  Band band;
  if (!has_its_checksum(data)) return band;
  z_stream stream{};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) return band;
  band.bytes.resize(rows * line + 1);  // the byte more lets the end of the band be read
  stream.next_in = const_cast<Bytef*>(to_bytes(data));
  stream.avail_in = static_cast<uInt>(data.size());
  stream.next_out = band.bytes.data();
  stream.avail_out = static_cast<uInt>(band.bytes.size());
  const int state = inflate(&stream, Z_SYNC_FLUSH);
  const std::size_t count = stream.total_out;
  // A stream that continues is at the end of a block, with no bits left over in the last byte.
  constexpr int unused_bits = 63;
  constexpr int end_of_block = 128;
  const bool pauses = state == Z_OK && (stream.data_type & (unused_bits | end_of_block)) == end_of_block;
  band.is_whole = (last ? state == Z_STREAM_END : pauses) && stream.avail_in == 0 && count == rows * line;
  inflateEnd(&stream);
  band.bytes.resize(count);
  band.sum = static_cast<std::uint32_t>(adler32_z(1, band.bytes.data(), count));
  return band;
}

std::uint8_t paeth(int left, int above, int corner) {
  const int to_left = std::abs(above - corner);
  const int to_above = std::abs(left - corner);
  const int to_corner = std::abs(left + above - 2 * corner);
  if (to_left <= to_above && to_left <= to_corner) return static_cast<std::uint8_t>(left);
  return static_cast<std::uint8_t>(to_above <= to_corner ? above : corner);
}

/// Adds the prediction to a row. Without a row above, that row is zero.
void unfilter(int filter, const std::uint8_t* from, const std::uint8_t* above, const PngLayout& layout,
              std::uint8_t* row) {
  const std::size_t count = layout.row_bytes;
  const auto add = [&](const auto& prediction) {
    for (std::size_t i = 0; i < count; ++i) {
      const int left = i >= layout.step ? row[i - layout.step] : 0;
      const int corner = i >= layout.step && above != nullptr ? above[i - layout.step] : 0;
      row[i] = static_cast<std::uint8_t>(from[i] + prediction(left, above != nullptr ? above[i] : 0, corner));
    }
  };
  switch (filter) {
    case 0: std::copy_n(from, count, row); break;
    case 1: add([](int left, int, int) { return left; }); break;
    case 2:
      for (std::size_t i = 0; i < count; ++i) {
        row[i] = static_cast<std::uint8_t>(from[i] + (above != nullptr ? above[i] : 0));
      }
      break;
    case 3: add([](int left, int up, int) { return (left + up) / 2; }); break;
    default: add(paeth);
  }
}

/// True if the first row does not refer to the band before.
bool begins_anew(const Band& band) { return band.bytes.front() <= 1; }

}  // namespace

Unpacked unpack_png(std::string_view file, const PngLayout& layout, std::uint8_t* rows) {
  const auto chunks = image_chunks(file);
  constexpr std::string_view head("\x78\x5e", 2);
  const std::size_t rows_a_band = png_band_bytes / layout.row_bytes + 1;
  const std::size_t band_count = (layout.rows + rows_a_band - 1) / rows_a_band;
  if (band_count < 2 || chunks.size() != band_count + 2) return Unpacked::no;
  if (chunks.front() != head || chunks.back().size() != 4) return Unpacked::no;
  if (!has_its_checksum(chunks.front()) || !has_its_checksum(chunks.back())) return Unpacked::no;
  const std::size_t line = layout.row_bytes + 1;
  std::vector<Band> bands(band_count);
  parallel_for(0, std::ssize(bands), [&](std::int64_t i) {
    const auto number = static_cast<std::size_t>(i);
    const bool last = number + 1 == band_count;
    const std::size_t own_rows = last ? layout.rows - number * rows_a_band : rows_a_band;
    bands[number] = unpacked(chunks[number + 1], last, line, own_rows);
  });
  std::uint32_t sum = 1;
  std::vector<std::size_t> runs;  // bands that begin anew, and the end
  for (std::size_t i = 0; i < bands.size(); ++i) {
    const Band& band = bands[i];
    if (!band.is_whole) return Unpacked::no;
    for (std::size_t at = 0; at < band.bytes.size(); at += line) {
      if (band.bytes[at] > 4) return Unpacked::no;
    }
    if (i == 0 || begins_anew(band)) runs.push_back(i);
    sum = static_cast<std::uint32_t>(adler32_combine(sum, band.sum, static_cast<z_off_t>(band.bytes.size())));
  }
  if (sum != big_endian(chunks.back())) return Unpacked::wrong_sum;
  runs.push_back(bands.size());
  const bool swaps = layout.bits == 16 && std::endian::native == std::endian::little;
  parallel_for(0, std::ssize(runs) - 1, [&](std::int64_t run) {
    const auto begin = runs[static_cast<std::size_t>(run)];
    const auto end = runs[static_cast<std::size_t>(run) + 1];
    const std::uint8_t* above = nullptr;
    for (std::size_t i = begin; i < end; ++i) {
      std::uint8_t* row = rows + i * rows_a_band * layout.row_bytes;
      for (std::size_t at = 0; at < bands[i].bytes.size(); at += line, row += layout.row_bytes) {
        const std::uint8_t* const from = bands[i].bytes.data() + at;
        unfilter(*from, from + 1, above, layout, row);
        above = row;
      }
    }
    if (!swaps) return;
    const std::size_t end_row = std::min(end * rows_a_band, layout.rows);
    for (std::size_t i = begin * rows_a_band * layout.row_bytes; i < end_row * layout.row_bytes; i += 2) {
      std::swap(rows[i], rows[i + 1]);
    }
  });
  return Unpacked::yes;
}

}  // namespace holotone::io

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <holotone/core/error.hpp>
#include <holotone/io/images/png_huffman_detail.hpp>
#include <holotone/io/images/png_pack_detail.hpp>
#include <png.h>
#include <zlib.h>

namespace holotone::io {
namespace {

using Counts = std::array<std::uint32_t, 256>;

constexpr std::array filters{PNG_FILTER_VALUE_NONE, PNG_FILTER_VALUE_SUB, PNG_FILTER_VALUE_UP, PNG_FILTER_VALUE_PAETH};
constexpr std::size_t window = 32768;  // farthest reference of deflate

/// In 16 bits and without branches, for vectors of eight.
unsigned char paeth(unsigned char left, unsigned char above, unsigned char corner) {
  const auto size = [](int x) { return static_cast<std::int16_t>(x < 0 ? -x : x); };
  const std::int16_t to_left = size(above - corner);
  const std::int16_t to_above = size(left - corner);
  const std::int16_t to_corner = size(left + above - 2 * corner);
  const unsigned char other = to_above <= to_corner ? above : corner;
  return to_left <= std::min(to_above, to_corner) ? left : other;
}

/// Writes row minus its prediction. Without a row above, that row is zero.
void filter_row(int filter, const unsigned char* row, const unsigned char* above, const PngBand& band,
                unsigned char* target) {
  const std::size_t first = std::min(band.step, band.row_bytes);
  const bool plain = filter == PNG_FILTER_VALUE_NONE || (filter == PNG_FILTER_VALUE_UP && above == nullptr);
  if (plain) {
    std::copy(row, row + band.row_bytes, target);
  } else if (filter == PNG_FILTER_VALUE_UP) {
    for (std::size_t i = 0; i < band.row_bytes; ++i) target[i] = static_cast<unsigned char>(row[i] - above[i]);
  } else if (filter == PNG_FILTER_VALUE_SUB || above == nullptr) {
    std::copy(row, row + first, target);
    for (std::size_t i = first; i < band.row_bytes; ++i) {
      target[i] = static_cast<unsigned char>(row[i] - row[i - band.step]);
    }
  } else {
    for (std::size_t i = 0; i < first; ++i) target[i] = static_cast<unsigned char>(row[i] - above[i]);
    for (std::size_t i = first; i < band.row_bytes; ++i) {
      target[i] = static_cast<unsigned char>(row[i] - paeth(row[i - band.step], above[i], above[i - band.step]));
    }
  }
}

const unsigned char* row_at(const PngBand& band, std::size_t row) { return band.rows + row * band.row_bytes; }

const unsigned char* above_of(const PngBand& band, std::size_t row) {
  return row > 0 ? row_at(band, row - 1) : band.above;
}

void count_bytes(const unsigned char* bytes, std::size_t count, Counts& counts) {
  for (std::size_t i = 0; i < count; ++i) ++counts[bytes[i]];
}

/// Bits that a code of single bytes takes for all of them.
double count_bits(const Counts& counts) {
  double sum = 0;
  double bits = 0;
  for (const auto count : counts) {
    if (count == 0) continue;
    sum += count;
    bits -= count * std::log2(count);
  }
  return sum > 0 ? bits + sum * std::log2(sum) : 0;
}

int best_filter(const PngBand& band) {
  constexpr std::size_t sampled_bytes = 1 << 14;
  const std::size_t every = std::max<std::size_t>(1, band.count * band.row_bytes / sampled_bytes);
  std::string target(band.row_bytes, '\0');
  auto* const bytes = reinterpret_cast<unsigned char*>(target.data());
  int best = PNG_FILTER_VALUE_NONE;
  double least = 0;
  for (const int filter : filters) {
    Counts counts{};
    for (std::size_t row = 0; row < band.count; row += every) {
      filter_row(filter, row_at(band, row), above_of(band, row), band, bytes);
      count_bytes(bytes, band.row_bytes, counts);
    }
    const double bits = count_bits(counts);
    if (filter == filters.front() || bits < least) {
      best = filter;
      least = bits;
    }
  }
  return best;
}

/// Packed by zlib; differences of neighbours are many small numbers, with few repetitions to find.
std::string packed(std::string_view bytes, std::string_view before, int level, bool last, std::string_view path) {
  z_stream stream{};
  if (deflateInit2(&stream, level, Z_DEFLATED, -MAX_WBITS, 8, Z_FILTERED) != Z_OK) {
    throw Error(ErrorCode::out_of_memory, std::string(path) + ": no memory for zlib");
  }
  if (!before.empty()) {
    deflateSetDictionary(&stream, reinterpret_cast<const Bytef*>(before.data()), static_cast<uInt>(before.size()));
  }
  std::string result(deflateBound(&stream, bytes.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(result.data());
  stream.avail_out = static_cast<uInt>(result.size());
  const int state = deflate(&stream, last ? Z_FINISH : Z_SYNC_FLUSH);
  const bool complete = state == (last ? Z_STREAM_END : Z_OK) && stream.avail_in == 0 && stream.avail_out > 0;
  result.resize(stream.total_out);
  deflateEnd(&stream);
  if (!complete) throw_io(path, "the PNG file to be made", "an error of zlib");
  return result;
}

/// True if so few places begin with four bytes that occurred before that a search for repetitions gains less than 3 %:
/// a repetition of four bytes has one such place, longer ones have more.
bool hardly_repeats(std::string_view sample) {
  constexpr std::size_t table_bits = 14;
  constexpr std::size_t covered = 4;
  std::array<std::uint16_t, 1 << table_bits> last{};  // place after the last one of these bytes, by a hash
  std::size_t repeated = 0;
  for (std::size_t i = 0; i + covered <= sample.size(); ++i) {
    const auto at = [&](std::size_t place) {
      std::uint32_t bytes = 0;
      std::memcpy(&bytes, sample.data() + place, covered);
      return bytes;
    };
    auto& before = last[at(i) * 0x9e3779b1U >> (32 - table_bits)];
    repeated += before > 0 && at(before - 1U) == at(i) ? 1 : 0;
    before = static_cast<std::uint16_t>(i + 1);
  }
  return static_cast<double>(covered * repeated) < 0.03 * static_cast<double>(sample.size());
}

enum class Coder { store, single, search };

/// How a band is coded unless the user says.
Coder chosen(std::string_view bytes, std::string_view path) {
  constexpr std::size_t sampled_bytes = 8192;
  if (bytes.size() < sampled_bytes) return Coder::search;
  const std::string_view sample = bytes.substr((bytes.size() - sampled_bytes) / 2, sampled_bytes);
  Counts counts{};
  count_bytes(reinterpret_cast<const unsigned char*>(sample.data()), sample.size(), counts);
  const double single = count_bits(counts) / 8;
  if (!hardly_repeats(sample) && static_cast<double>(packed(sample, {}, 1, true, path).size()) < 0.97 * single) {
    return Coder::search;
  }
  return single > 0.98 * sampled_bytes ? Coder::store : Coder::single;
}

}  // namespace

std::string filtered(const PngBand& band, std::optional<int> level) {
  const int filter = level == 0 ? PNG_FILTER_VALUE_NONE : best_filter(band);
  const bool needs_above = filter == PNG_FILTER_VALUE_UP || filter == PNG_FILTER_VALUE_PAETH;
  const int first_filter = !level && needs_above ? PNG_FILTER_VALUE_SUB : filter;
  std::string result(band.count * (band.row_bytes + 1), '\0');
  auto* target = reinterpret_cast<unsigned char*>(result.data());
  for (std::size_t row = 0; row < band.count; ++row, target += band.row_bytes + 1) {
    const int row_filter = row == 0 ? first_filter : filter;
    *target = static_cast<unsigned char>(row_filter);
    filter_row(row_filter, row_at(band, row), above_of(band, row), band, target + 1);
  }
  return result;
}

std::string deflated(std::string_view bytes, std::string_view before, std::optional<int> level, bool last,
                     std::string_view path) {
  const Coder coder = level ? Coder::search : chosen(bytes, path);
  if (coder == Coder::single) return huffman_coded(bytes, last);
  constexpr int searching_level = 3;
  const int search_level = coder == Coder::store ? 0 : level.value_or(searching_level);
  const std::string_view dictionary = before.substr(before.size() - std::min(before.size(), window));
  return packed(bytes, search_level > 0 ? dictionary : std::string_view{}, search_level, last, path);
}

}  // namespace holotone::io

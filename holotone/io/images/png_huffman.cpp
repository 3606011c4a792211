#include <algorithm>
#include <array>
#include <cstdint>
#include <holotone/io/images/png_huffman_detail.hpp>
#include <limits>
#include <vector>

namespace holotone::io {
namespace {

constexpr std::size_t symbols = 257;  // bytes, and the end of a block
constexpr std::size_t end_of_block = 256;
constexpr int longest_code = 15;
constexpr std::size_t block_bytes = 1 << 16;
constexpr std::size_t header_bytes = 160;  // of a block and the piece's end, rounded up

using Counts = std::array<std::uint32_t, symbols>;
using Lengths = std::array<std::uint8_t, symbols>;

/// A symbol's code, its first bit lowest.
struct Code {
  std::uint16_t bits = 0;
  std::uint16_t length = 0;
};
using Codes = std::array<Code, symbols>;

Counts count_values(std::string_view block) {
  // Several tables: an increment need not wait for the one before of the same byte.
  std::array<std::array<std::uint32_t, 256>, 4> tables{};
  for (std::size_t i = 0; i < block.size(); ++i) ++tables[i % 4][static_cast<unsigned char>(block[i])];
  Counts counts{};
  for (std::size_t s = 0; s < 256; ++s) counts[s] = tables[0][s] + tables[1][s] + tables[2][s] + tables[3][s];
  counts[end_of_block] = 1;
  return counts;
}

/// Lengths of the code of least size (Huffman 1952), 0 for symbols that do not occur. May exceed longest_code.
std::array<int, symbols> unlimited_lengths(const Counts& counts) {
  std::vector<std::size_t> leaf;
  for (std::size_t s = 0; s < symbols; ++s) {
    if (counts[s] > 0) leaf.push_back(s);
  }
  std::stable_sort(leaf.begin(), leaf.end(), [&](std::size_t a, std::size_t b) { return counts[a] < counts[b]; });
  // Nodes: the leaves by rising weight, then the pairs, whose weights rise too. The two lightest become a pair.
  const std::size_t leaves = leaf.size();
  std::vector<std::uint64_t> weight(2 * leaves - 1, std::numeric_limits<std::uint64_t>::max());
  std::vector<std::size_t> parent(2 * leaves - 1);
  for (std::size_t i = 0; i < leaves; ++i) weight[i] = counts[leaf[i]];
  std::size_t next_leaf = 0;
  std::size_t next_pair = leaves;
  for (std::size_t pair = leaves; pair < weight.size(); ++pair) {
    const auto take = [&] {
      const bool is_leaf = next_leaf < leaves && (next_pair == pair || weight[next_leaf] <= weight[next_pair]);
      const std::size_t lightest = is_leaf ? next_leaf++ : next_pair++;
      parent[lightest] = pair;
      return weight[lightest];
    };
    const std::uint64_t first = take();
    weight[pair] = first + take();
  }
  std::vector<int> depth(weight.size());
  for (std::size_t node = weight.size() - 1; node-- > 0;) depth[node] = depth[parent[node]] + 1;
  std::array<int, symbols> lengths{};
  for (std::size_t i = 0; i < leaves; ++i) lengths[leaf[i]] = std::max(depth[i], 1);  // 1: a single symbol
  return lengths;
}

Lengths lengths_of(Counts counts) {
  auto lengths = unlimited_lengths(counts);
  while (*std::max_element(lengths.begin(), lengths.end()) > longest_code) {
    for (auto& count : counts) count = (count + 1) / 2;  // rare symbols become more alike
    lengths = unlimited_lengths(counts);
  }
  Lengths narrow{};
  std::transform(lengths.begin(), lengths.end(), narrow.begin(), [](int n) { return static_cast<std::uint8_t>(n); });
  return narrow;
}

std::uint16_t reversed(unsigned bits, int length) {
  unsigned result = 0;
  for (int i = 0; i < length; ++i) result |= (bits >> i & 1) << (length - 1 - i);
  return static_cast<std::uint16_t>(result);
}

/// The canonical codes of these lengths (RFC 1951, 3.2.2).
Codes make_codes(const Lengths& lengths) {
  Codes codes{};
  unsigned next = 0;
  for (int length = 1; length <= longest_code; ++length) {
    next <<= 1;
    for (std::size_t s = 0; s < symbols; ++s) {
      if (lengths[s] != length) continue;
      codes[s] = {reversed(next++, length), static_cast<std::uint16_t>(length)};
    }
  }
  return codes;
}

/// Appends bits, the lowest first, to memory with room for eight bytes more than they fill.
class BitWriter {
 public:
  explicit BitWriter(char* target) : target_(target) {}
  /// At most 57 bits between two stores.
  void put(std::uint64_t bits, unsigned count) {
    held_ |= bits << used_;
    used_ += count;
  }
  void put(Code code) { put(code.bits, code.length); }
  void store() {
    for (int i = 0; i < 8; ++i) target_[i] = static_cast<char>(held_ >> (8 * i));
    target_ += used_ / 8;
    held_ >>= used_ & 56U;
    used_ &= 7U;
  }
  void fill_byte() {
    used_ = (used_ + 7U) & ~7U;
    store();
  }
  [[nodiscard]] char* end() const { return target_; }

 private:
  char* target_;
  std::uint64_t held_ = 0;
  unsigned used_ = 0;
};

/// Begins a block: kind, and the lengths of its codes in 4 bits each, as they do not compress much.
void put_header(BitWriter& out, const Lengths& lengths, bool last) {
  constexpr unsigned dynamic = 2;
  out.put((last ? 1 : 0) | dynamic << 1, 3);
  out.put(0, 5);       // 257 lengths of literals
  out.put(1, 5);       // two distances, which no symbol uses: some decoders refuse fewer
  out.put(19 - 4, 4);  // all lengths of lengths, in the order 16, 17, 18, 0, 8, ...
  out.store();
  out.put(0, 9);  // 16, 17 and 18, which repeat lengths, do not occur
  for (int i = 3; i < 19; ++i) {
    out.put(4, 3);
    out.store();
  }
  const auto put_length = [&](unsigned length) {
    out.put(reversed(length, 4), 4);
    out.store();
  };
  for (const auto length : lengths) put_length(length);
  put_length(1);
  put_length(1);
}

void put_block(BitWriter& out, std::string_view block, const Codes& codes) {
  const auto code = [&](std::size_t i) { return codes[static_cast<unsigned char>(block[i])]; };
  std::size_t i = 0;
  for (; i + 3 <= block.size(); i += 3) {  // 7 + 3 * 15 bits
    out.put(code(i));
    out.put(code(i + 1));
    out.put(code(i + 2));
    out.store();
  }
  for (; i < block.size(); ++i) {
    out.put(code(i));
    out.store();
  }
  out.put(codes[end_of_block]);
  out.store();
}

}  // namespace

std::string huffman_coded(std::string_view bytes, bool last) {
  struct Block {
    std::string_view bytes;
    Lengths lengths{};
  };
  std::vector<Block> blocks;
  std::uint64_t bits = 0;
  do {
    Block block{bytes.substr(0, block_bytes)};
    bytes.remove_prefix(block.bytes.size());
    const Counts counts = count_values(block.bytes);
    block.lengths = lengths_of(counts);
    for (std::size_t s = 0; s < symbols; ++s) bits += std::uint64_t{counts[s]} * block.lengths[s];
    blocks.push_back(block);
  } while (!bytes.empty());

  std::string result(bits / 8 + (blocks.size() + 1) * header_bytes, '\0');
  BitWriter out(result.data());
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    put_header(out, blocks[i].lengths, last && i + 1 == blocks.size());
    put_block(out, blocks[i].bytes, make_codes(blocks[i].lengths));
  }
  if (!last) {
    out.put(0, 3);  // an empty stored block: its length and the complement follow at the next whole byte
    out.fill_byte();
    out.put(0xffff0000U, 32);
    out.store();
  } else {
    out.fill_byte();
  }
  result.resize(static_cast<std::size_t>(out.end() - result.data()));
  return result;
}

}  // namespace holotone::io

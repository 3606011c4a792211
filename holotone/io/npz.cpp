#include <fmt/format.h>
#include <holotone/core/crc32.hpp>
#include <holotone/core/device.hpp>
#include <holotone/core/error.hpp>
#include <holotone/core/units.hpp>
#include <holotone/io/file_bytes_detail.hpp>
#include <holotone/io/npy_detail.hpp>
#include <holotone/io/npz_detail.hpp>
#include <new>
#include <span>
#include <zlib.h>

namespace holotone::io {
namespace {

constexpr std::uint32_t local_mark = 0x04034b50;
constexpr std::uint32_t central_mark = 0x02014b50;
constexpr std::uint32_t end_mark = 0x06054b50;
constexpr std::size_t end_bytes = 22;

std::uint32_t crc_of(std::string_view bytes) {
  return crc32(std::as_bytes(std::span<const char>(bytes.data(), bytes.size())));
}

/// Writes the fields common to the local header and the central directory: version, flags, method, date, checksum,
/// sizes, length of the name, no further fields.
void put_entry(std::string& out, const std::string& name, std::string_view content) {
  for (const int word : {20, 0, 0, 0, 0x21}) store(out, static_cast<std::uint16_t>(word));  // 1 January 1980
  store(out, crc_of(content));
  for (int i = 0; i < 2; ++i) store(out, static_cast<std::uint32_t>(content.size()));
  store(out, static_cast<std::uint16_t>(name.size()));
  store(out, std::uint16_t{0});
}

NpzNumbers numbers_of(std::string_view bytes, const std::string& path) {
  const auto header = parse_npy_header(bytes, path);
  if (header.kind == 'c') throw_io(path, "an array of real numbers", header.type);
  if (header.fortran_order) {
    throw_io(path, "an array in C order, row by row (numpy.ascontiguousarray)", "one in Fortran's, column by column");
  }
  NpzNumbers numbers{header.shape, {}};
  const std::size_t count =
      (bytes.size() - std::min(bytes.size(), header.data_begin)) / std::max<std::size_t>(1, header.item_bytes);
  const double memory = 2.0 * sizeof(double) * static_cast<double>(count);
  const auto free = static_cast<double>(describe(Device{}).free_bytes);
  if (memory > free) {
    throw Error(ErrorCode::out_of_memory, fmt::format("{}: expected {} of memory for its numbers, got {} free", path,
                                                      format_bytes(memory), format_bytes(free)));
  }
  numbers.values.reserve(count);
  for (std::size_t at = header.data_begin; at + header.item_bytes <= bytes.size(); at += header.item_bytes) {
    numbers.values.push_back(load_npy_number(bytes.data() + at, header.kind, header.item_bytes, header.order));
  }
  return numbers;
}

/// Inflates an entry of numpy.savez_compressed: a raw deflate stream of `size` unpacked bytes.
std::string unpacked(std::string_view packed, std::size_t size, const std::string& path, const std::string& name) {
  constexpr std::size_t max_ratio = 1032;  // largest ratio of deflate
  if (size / max_ratio > packed.size()) {
    throw_io(path, fmt::format("{} of at most {} times its packed bytes", in_quotes(name), max_ratio),
             counted(size, "byte"));
  }
  std::string bytes(size, '\0');
  z_stream stream{};
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  stream.next_out = reinterpret_cast<Bytef*>(bytes.data());
  stream.avail_out = static_cast<uInt>(size);
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) throw std::bad_alloc();
  const int status = inflate(&stream, Z_FINISH);
  inflateEnd(&stream);
  if (status != Z_STREAM_END || stream.avail_out != 0) {
    throw_io(path, fmt::format("{} of {}", in_quotes(name), counted(size, "byte")), "a damaged stream");
  }
  return bytes;
}

/// Content of the next entry of the central directory; advances `directory` past it. `held` stores the bytes of a
/// compressed entry.
std::string_view take_content(ByteReader& directory, const std::string& bytes, const std::string& path,
                              std::string& name, std::string& held) {
  if (directory.take<std::uint32_t>("an entry's mark") != central_mark)
    throw_io(path, "an entry of a ZIP archive", "none");
  directory.take_bytes(6, "versions and flags");
  const auto method = directory.take<std::uint16_t>("a method");
  directory.take_bytes(4, "a date");
  const auto crc = directory.take<std::uint32_t>("a checksum");
  const auto stored = directory.take<std::uint32_t>("a size");
  const auto size = directory.take<std::uint32_t>("a size");
  const auto name_length = directory.take<std::uint16_t>("a length");
  const auto extra_length = directory.take<std::uint16_t>("a length");
  const auto comment_length = directory.take<std::uint16_t>("a length");
  directory.take_bytes(8, "attributes");
  const auto offset = directory.take<std::uint32_t>("an offset");
  name = std::string(directory.take_bytes(name_length, "a name"));
  directory.take_bytes(std::size_t{extra_length} + comment_length, "further fields");
  if (method != 0 && method != Z_DEFLATED) {
    throw_io(path, "arrays as numpy.savez or savez_compressed write them",
             fmt::format("{} compressed by method {}", in_quotes(name), method));
  }
  if (offset > bytes.size()) throw_io(path, "an entry within the file", fmt::format("one at byte {}", offset));
  ByteReader local(std::string_view(bytes).substr(offset), path, std::endian::little);
  if (local.take<std::uint32_t>("an entry's mark") != local_mark) throw_io(path, "an entry of a ZIP archive", "none");
  local.take_bytes(22, "an entry's header");
  const auto local_name = local.take<std::uint16_t>("a length");
  const auto local_extra = local.take<std::uint16_t>("a length");
  local.take_bytes(std::size_t{local_name} + local_extra, "a name");
  std::string_view content = local.take_bytes(stored, in_quotes(name));
  if (method == Z_DEFLATED) {
    held = unpacked(content, size, path, name);
    content = held;
  }
  if (crc_of(content) != crc) throw_io(path, fmt::format("{} with checksum {:08x}", in_quotes(name), crc), "another");
  return content;
}

}  // namespace

std::string npz_bytes(const std::map<std::string, NpzArray>& arrays) {
  std::string out;
  std::string directory;
  for (const auto& [name, array] : arrays) {
    const std::string file = name + ".npy";
    const std::string content = npy_header(array.type, array.shape) + array.bytes;
    store(directory, central_mark);
    store(directory, std::uint16_t{20});
    put_entry(directory, file, content);
    directory.append(2 + 2 + 2 + 4, '\0');  // comment, disk, attributes
    store(directory, static_cast<std::uint32_t>(out.size()));
    directory += file;
    store(out, local_mark);
    put_entry(out, file, content);
    out += file;
    out += content;
    if (out.size() > 0xffffffff) throw Error(ErrorCode::unsupported, "NPZ: expected at most 4 GiB, got more");
  }
  const auto begin = static_cast<std::uint32_t>(out.size());
  out += directory;
  store(out, end_mark);
  store(out, std::uint32_t{0});
  for (int i = 0; i < 2; ++i) store(out, static_cast<std::uint16_t>(arrays.size()));
  store(out, static_cast<std::uint32_t>(directory.size()));
  store(out, begin);
  store(out, std::uint16_t{0});
  return out;
}

std::map<std::string, NpzNumbers> read_npz(const std::string& bytes, const std::string& path) {
  if (bytes.size() < end_bytes) throw_io(path, "an NPZ file", counted(bytes.size(), "byte"));
  // NumPy writes no comment behind the end.
  ByteReader end(std::string_view(bytes).substr(bytes.size() - end_bytes), path, std::endian::little);
  if (end.take<std::uint32_t>("the end's mark") != end_mark)
    throw_io(path, "an NPZ file", "no ZIP archive, or one cut off");
  end.take_bytes(6, "numbers of disks");
  const auto count = end.take<std::uint16_t>("a count");
  end.take_bytes(4, "a size");
  const auto begin = end.take<std::uint32_t>("an offset");
  if (begin > bytes.size()) throw_io(path, "a directory within the file", fmt::format("one at byte {}", begin));
  ByteReader directory(std::string_view(bytes).substr(begin), path, std::endian::little);
  std::map<std::string, NpzNumbers> arrays;
  std::size_t total = 0;
  for (int i = 0; i < count; ++i) {
    std::string name;
    std::string held;
    const auto content = take_content(directory, bytes, path, name, held);
    total += held.empty() ? content.size() : 0;
    if (total > bytes.size()) throw_io(path, "entries that do not overlap", "some that do");
    if (name.size() > 4 && name.ends_with(".npy")) {
      arrays[name.substr(0, name.size() - 4)] = numbers_of(content, path + " " + in_quotes(name));
    }
  }
  return arrays;
}

}  // namespace holotone::io

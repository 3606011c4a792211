#include <holotone/io/fields/hdf5_storage_detail.hpp>

#if HOLOTONE_HDF5
#include <array>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <holotone/io/file_bytes_detail.hpp>
#include <holotone/io/file_part_detail.hpp>
#include <holotone/io/printable_detail.hpp>

namespace holotone::io {
namespace {

constexpr std::uint64_t largest_chunk = std::uint64_t{1} << 30;
constexpr std::uint64_t largest_ratio = 1100;  // deflate reaches 1032

}  // namespace

void check_hdf5_storage(hid_t dataset, const std::vector<std::uint64_t>& extents, const std::string& path) {
  const Hdf5Handle type(H5Dget_type(dataset), H5Tclose);
  const Hdf5Handle list(H5Dget_create_plist(dataset), H5Pclose);
  if (!list.valid()) throw_io(path, "a readable dataset", "a damaged one");
  const int filters = H5Pget_nfilters(list.get());
  for (int i = 0; i < filters; ++i) {
    unsigned flags = 0;
    std::size_t values = 0;
    std::array<char, 64> name{};
    const auto filter = H5Pget_filter2(list.get(), static_cast<unsigned>(i), &flags, &values, nullptr, name.size() - 1,
                                       name.data(), nullptr);
    if (filter >= 0 && H5Zfilter_avail(filter) <= 0) {
      throw_io(path, "a compression that this libhdf5 knows, such as gzip",
               fmt::format("filter {} {}", static_cast<int>(filter), in_quotes(name.data())));
    }
  }
  const std::uint64_t size = std::filesystem::file_size(split_part(path).file);
  const std::uint64_t stored = H5Dget_storage_size(dataset);
  if (stored > size) throw_io(path, fmt::format("{} bytes of dataset", stored), fmt::format("a file of {}", size));
  const std::uint64_t item = H5Tget_size(type.get());
  const auto layout = H5Pget_layout(list.get());
  if (layout == H5D_CHUNKED) {
    const int rank = static_cast<int>(extents.size());
    std::vector<hsize_t> chunk(extents.size());
    std::uint64_t bytes = item;
    bool bad = item == 0 || H5Pget_chunk(list.get(), rank, chunk.data()) != rank;
    for (const hsize_t extent : chunk) bad = bad || extent == 0 || __builtin_mul_overflow(bytes, extent, &bytes);
    if (bad || bytes > largest_chunk) {
      throw_io(path, fmt::format("chunks of at most {} bytes", largest_chunk),
               fmt::format("chunks of {} values", fmt::join(chunk, " x ")));
    }
  } else if (layout != H5D_CONTIGUOUS && layout != H5D_COMPACT) {
    throw_io(path, "a contiguous, compact or chunked dataset", "another layout");
  }
  std::uint64_t needed = item;
  bool over = false;
  for (const auto extent : extents) over = over || __builtin_mul_overflow(needed, extent, &needed);
  const std::uint64_t possible = layout == H5D_CHUNKED ? stored * largest_ratio : stored;
  if (over || needed > possible) {
    throw_io(path, fmt::format("data for shape {{{}}}, {} bytes each", fmt::join(extents, ", "), item),
             fmt::format("{} bytes stored", stored));
  }
}

std::string note_hdf5_gaps(hid_t dataset, const std::vector<std::uint64_t>& extents, const std::string& path,
                           std::string_view name) {
#if H5_VERSION_GE(1, 10, 5)
  const Hdf5Handle list(H5Dget_create_plist(dataset), H5Pclose);
  const int rank = static_cast<int>(extents.size());
  std::vector<hsize_t> chunk(extents.size());
  const Hdf5Handle space(H5Dget_space(dataset), H5Sclose);  // 1.10 does not know H5S_ALL here
  hsize_t stored = 0;
  if (!list.valid() || !space.valid() || H5Pget_layout(list.get()) != H5D_CHUNKED ||
      H5Pget_chunk(list.get(), rank, chunk.data()) != rank || H5Dget_num_chunks(dataset, space.get(), &stored) < 0) {
    return {};
  }
  hsize_t all = 1;
  for (std::size_t i = 0; i < extents.size(); ++i) {
    if (chunk[i] == 0 || __builtin_mul_overflow(all, (extents[i] - 1) / chunk[i] + 1, &all)) return {};
  }
  if (stored >= all) return {};
  const Hdf5Handle type(H5Dget_type(dataset), H5Tclose);
  double fill = 0;
  const auto kind = H5Tget_class(type.get());
  if (kind == H5T_FLOAT || kind == H5T_INTEGER) H5Pget_fill_value(list.get(), H5T_NATIVE_DOUBLE, &fill);
  return fmt::format("{}: {} of {} chunks of {} are not in the file: read as {:g}", path, all - stored, all,
                     printable(name), fill);
#else
  return {};
#endif
}

}  // namespace holotone::io
#endif

#include <holotone/io/images/tiff/tiff_input_detail.hpp>

#if HOLOTONE_TIFF
#include <algorithm>
#include <cstring>
#include <holotone/core/error.hpp>

namespace holotone::io {
namespace {

constexpr tmsize_t libtiff_memory = tmsize_t{1} << 26;  // bytes per allocation, plus four times the file
// Of a head that is read alone: the file's part that memory for its tags may follow.
constexpr std::uint64_t max_head_bytes = std::uint64_t{1} << 28;

extern "C" {
static tmsize_t read_source(thandle_t handle, void* target, tmsize_t count) {
  auto& source = *static_cast<TiffSource*>(handle);
  if (count <= 0 || source.position >= source.size) return 0;
  const auto held = std::min<std::uint64_t>(static_cast<std::uint64_t>(count), source.size - source.position);
  if (!source.read(static_cast<char*>(target), held, source.position)) return 0;
  source.position += held;
  return static_cast<tmsize_t>(held);
}
static tmsize_t write_source(thandle_t, void*, tmsize_t) { return 0; }
static toff_t seek_source(thandle_t handle, toff_t offset, int whence) {
  auto& source = *static_cast<TiffSource*>(handle);
  if (whence == SEEK_CUR) offset += source.position;
  if (whence == SEEK_END) offset += source.size;
  source.position = offset;
  return offset;
}
static int close_source(thandle_t) { return 0; }
static toff_t size_of_source(thandle_t handle) { return static_cast<TiffSource*>(handle)->size; }
static int map_source(thandle_t, void**, toff_t*) { return 0; }
static void unmap_source(thandle_t, void*, toff_t) {}
}

}  // namespace

bool TiffSource::read(char* target, std::uint64_t count, std::uint64_t at) const {
  if (file != nullptr) return read_at(*file, target, count, at) == 0;
  std::memcpy(target, bytes.data() + at, count);
  return true;
}

TiffInput::TiffInput(std::string_view bytes, std::string_view path)
    : TiffInput(TiffSource{bytes}, bytes.size(), path) {}

TiffInput::TiffInput(const FileHandle& file, std::uint64_t size, std::string_view path)
    : TiffInput(TiffSource{{}, &file, size}, std::min(size, max_head_bytes), path) {}

TiffInput::TiffInput(const TiffSource& source, std::uint64_t bytes_read, std::string_view path)
    : path_(path), source_(source) {
  const auto options = tiff_options(message_, libtiff_memory + 4 * static_cast<tmsize_t>(bytes_read));
  file_.reset(TIFFClientOpenExt("tiff", "r", &source_, read_source, write_source, seek_source, close_source,
                                size_of_source, map_source, unmap_source, options.get()));
  if (!file_) fail();
}

void TiffInput::fail() const { throw_io(path_, "a readable TIFF file", message_.text); }

void TiffInput::enter(std::uint64_t directory) const {
  if (TIFFSetSubDirectory(file_.get(), directory) != 1) fail();
}

}  // namespace holotone::io
#endif

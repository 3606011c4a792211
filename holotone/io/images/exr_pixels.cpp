#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/io/images/exr_header_detail.hpp>

#if HOLOTONE_EXR
#include <ImfChannelList.h>
#include <ImfFrameBuffer.h>
#include <ImfHeader.h>
#include <ImfIO.h>
#include <ImfInputFile.h>
#include <cstring>
#include <exception>
#include <new>
#endif

namespace holotone::io {

#if HOLOTONE_EXR
namespace {

/// The file's bytes for the library.
class Bytes final : public Imf::IStream {
 public:
  Bytes(std::string_view bytes, const std::string& path) : IStream(path.c_str()), bytes_(bytes) {}
  bool read(char target[], int count) override {
    const auto wanted = static_cast<std::size_t>(count);
    if (count < 0 || position_ > bytes_.size() || wanted > bytes_.size() - position_) {
      throw Error(ErrorCode::io, "the file is too short");
    }
    std::memcpy(target, bytes_.data() + position_, wanted);
    position_ += wanted;
    return position_ < bytes_.size();
  }
  std::uint64_t tellg() override { return position_; }
  void seekg(std::uint64_t position) override { position_ = position; }

 private:
  std::string_view bytes_;
  std::uint64_t position_ = 0;
};

}  // namespace

Array<float, 3> exr_pixels(std::string_view bytes, const ExrHeader& header, const std::vector<std::string>& channels,
                           const std::string& path) {
  const auto count = static_cast<std::int64_t>(channels.size());
  Array<float, 3> pixels({header.data.ny(), header.data.nx(), count});
  std::memset(static_cast<void*>(pixels.data()), 0, pixels.bytes());
  try {
    Bytes stream(bytes, path);
    Imf::InputFile file(stream, 0);  // without threads of its own
    const auto& window = file.header().dataWindow();
    const ExrWindow data{window.min.x, window.min.y, window.max.x, window.max.y};
    if (data != header.data) throw Error(ErrorCode::io, "another dataWindow");
    Imf::FrameBuffer frame;
    const std::size_t across = sizeof(float) * channels.size();
    const std::size_t down = across * static_cast<std::size_t>(header.data.nx());
    for (std::size_t c = 0; c < channels.size(); ++c) {
      frame.insert(channels[c], Imf::Slice::Make(Imf::FLOAT, pixels.data() + c, window, across, down));
    }
    file.setFrameBuffer(frame);
    file.readPixels(window.min.y, window.max.y);
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    std::string words = error.what();
    for (char& c : words) {
      if (c == '\n' || c == '\r') c = ' ';
    }
    throw_io(path, "pixels that OpenEXR decodes", fmt::format("'{}'", words.substr(0, 200)));
  }
  return pixels;
}
#else
Array<float, 3> exr_pixels(std::string_view, const ExrHeader&, const std::vector<std::string>&,
                           const std::string& path) {
  throw Error(ErrorCode::unsupported, path + ": expected a build with OpenEXR for EXR, got one without");
}
#endif

}  // namespace holotone::io

#pragma once
// Codes of a device as pictures in host memory. Not for users.
#include <cstdint>
#include <holotone/core/array.hpp>
#include <holotone/io/images/image.hpp>

namespace holotone {

/// Codes in host memory as an image of one channel.
template <class T>
Array<T, 3> fetch(const Array<T, 2>& codes, const Queue& queue) {
  const auto [ny, nx] = codes.shape();
  Array<T, 3> pixels({ny, nx, 1});
  copy<T, 2>(View<T, 2>(pixels.data(), {ny, nx}), codes.view(), queue);
  queue.synchronize();
  return pixels;
}

/// Codes of more than 8 bits as an image; `packed16`: in the layout of pack_16bit.
Image image_of_words(Array<std::uint16_t, 3> codes, bool packed16);

}  // namespace holotone

#pragma once
// Codes of a device as pictures in host memory, and back. Not for users.
#include <algorithm>
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

/// The pixels of the only channel of an image.
template <class T>
Array<T, 2> plane_of(const Array<T, 3>& pixels) {
  const auto [ny, nx, channels] = pixels.shape();
  Array<T, 2> plane({ny, nx});
  std::copy_n(pixels.data(), ny * nx, plane.data());
  return plane;
}

}  // namespace holotone

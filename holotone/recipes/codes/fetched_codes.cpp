#include <holotone/hologram/encode.hpp>
#include <holotone/recipes/codes/fetched_codes_detail.hpp>

namespace holotone {

Image image_of_words(Array<std::uint16_t, 3> codes, bool packed16) {
  if (!packed16) return {std::move(codes), {}};
  const View<const std::uint16_t, 2> plane(codes.data(), {codes.shape()[0], codes.shape()[1]});
  return {pack_16bit(plane), {}};
}

}  // namespace holotone

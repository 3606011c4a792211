#pragma once
// Which components a tile of pixels sums, with a bound on what the others would add. Not for users.
#include <functional>
#include <holotone/smoe/render/image_components.hpp>

namespace holotone::smoe {

/// Pixels of a tile.
inline constexpr Shape<2> tile_shape{8, 16};

/// The components of one tile.
struct TileComponents {
  std::vector<std::uint32_t> index;
  double least = 0;  ///< at every pixel some component has at least this log2 density
  double most = 0;   ///< no component of the list has more
  double spread =
      0;  ///< no expert counts that is farther than this from another's colour: bounds what rounding of a weight does
};

struct Tiles {
  Shape<2> count{};  ///< {rows, columns} of tiles
  std::vector<TileComponents> tiles;
};

/// Takes the list of a tile, numbered row by row; many threads call it at once.
using TileBody = std::function<void(std::int64_t tile, TileComponents&& list)>;

/// How many rows and columns of tiles a picture of `size` has.
Shape<2> tiles_of(const Shape<2>& size);
/// The pixels of a tile.
PixelBox tile_box(std::int64_t tile, const Shape<2>& size);

/// Gives each tile of a picture of `size` to `body` as soon as its list is made, so that lists need not stand beside
/// each other.
///
/// `bounded`: with, over a box T of pixels, U_k the largest log2 density of component k and L a number that some
/// component's density reaches at every pixel, component k has at most the weight 2^(U_k - L) there. With y the picture
/// of the components that are kept and m_k an expert,
///   error = sum over dropped k of w_k (m_k - y)   so   |error| <= sum of 2^(U_k - L) (r_k + B)
/// where r_k bounds |m_k - c| and B bounds |y - c| over T, for any colour c: B is the largest r_k among components that
/// may have weight, and sum of 2^(U_k - L) r_k of those whose weight is below 2^-10. Each tile drops the cheapest
/// components as long as their sum stays in its share of `tolerance`, and never one that may be the best. Areas of
/// eight tiles a side, and boxes of four and two within, have shares of their own and drop those with U_k < L - log2(2
/// N R / share): an area with N all components and R the largest r_k over the picture, for c = 0, its boxes with N and
/// R those of the components that reach the area. Groups of neighbours are told from an area at once, so that the cost
/// is O(K / 256) for each area and what there is around it. On all threads; the same lists on any number of them.
void list_tiles(std::span<const ImageComponent> components, int channels, const Shape<2>& size,
                const SmoeRenderOptions& options, const TileBody& body);
/// All of them.
Tiles select_components(std::span<const ImageComponent> components, int channels, const Shape<2>& size,
                        const SmoeRenderOptions& options);

}  // namespace holotone::smoe

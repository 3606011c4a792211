#pragma once
// Component lists of tiles of pixels, with an error bound for the omitted components. Not for users.
#include <functional>
#include <holotone/smoe/render/image_components.hpp>

namespace holotone::smoe {

/// Pixels of a tile.
inline constexpr Shape<2> tile_shape{8, 16};

/// The components of one tile.
struct TileComponents {
  std::vector<std::uint32_t> index;
  double least = 0;   ///< at every pixel some component reaches this log2 density
  double most = 0;    ///< largest log2 density of the list's components, or more
  double spread = 0;  ///< B of list_tiles: bounds the effect of a weight's rounding on a colour
};

struct Tiles {
  Shape<2> count{};  ///< {rows, columns} of tiles
  std::vector<TileComponents> tiles;
};

/// Receives the list of a tile; tiles are numbered row by row. Called by many threads at once.
using TileBody = std::function<void(std::int64_t tile, TileComponents&& list)>;

/// Rows and columns of tiles of a picture of `size`.
Shape<2> count_tiles(const Shape<2>& size);
/// The pixels of a tile.
PixelBox tile_box(std::int64_t tile, const Shape<2>& size);

/// Calls `body` for each tile of a picture of `size` as soon as its list is made, so that the lists need not be stored
/// together.
///
/// `bounded`: over a box T of pixels, let U_k be the largest log2 density of component k, and L a number that some
/// component's density reaches at every pixel. Component k then has at most the weight 2^(U_k - L) there. With y the
/// picture of the kept components and m_k an expert,
///   error = sum over dropped k of w_k (m_k - y)   so   |error| <= sum of 2^(U_k - L) (r_k + B)
/// where r_k bounds |m_k - c| and B bounds |y - c| over T, for any colour c. B is the largest r_k among components that
/// may have weight, plus the sum of 2^(U_k - L) r_k over those of weight below 2^-10.
/// Each tile drops the cheapest components while their sum stays within its share of `tolerance`, and never one that
/// may be the densest. Areas of eight tiles a side, and boxes of four and two inside them, have shares of their own and
/// drop components with U_k < L - log2(2 N R / share). For an area, N is the number of all components and R the largest
/// r_k over the picture, for c = 0. For its boxes, N and R are those of the components that reach the area.
/// Groups of neighbours are tested against an area together: the cost is O(K / 256) for each area, plus that of the
/// components around it. On all threads; the same lists on any number of them.
void list_tiles(std::span<const ImageComponent> components, int channels, const Shape<2>& size,
                const SmoeRenderOptions& options, const TileBody& body);
/// The lists of all tiles.
Tiles select_components(std::span<const ImageComponent> components, int channels, const Shape<2>& size,
                        const SmoeRenderOptions& options);

}  // namespace holotone::smoe

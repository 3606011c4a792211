// Kernels for the component lists of tiles, and for L of quarters of tiles.
#include <holotone/smoe/render/lists/block_lists_cuda.cuh>
#include <holotone/smoe/render/render_kernels.hpp>

namespace holotone::smoe {
namespace {

constexpr int areas_a_processor = 6;
/// Largest distance, in quarters of tiles, at which a component raises L here; areas search for missing values.
constexpr int max_quarters = 3;
constexpr float first_within = 1.25F;  ///< largest distance of the same, in 1 / 0.85 deviations

template <bool Bounded>
__global__ void __launch_bounds__(area_threads, areas_a_processor)
    list_kernel(Components components, const Frame* __restrict__ frames, const PictureBundle* __restrict__ bundles,
                PictureGrid grid, ListSettings settings, ListStore store) {
  __shared__ AreaMemory memory;
  const BlockPlace place = find_place(grid, blockIdx.x * blocks_an_area);
  const PictureBundle bundle = bundles[place.picture];
  const Frame frame = frames[bundle.first];
  const Plane plane{components, components.begin + static_cast<std::int64_t>(bundle.order) * components.layout->cells,
                    components.most + bundle.order * size_classes, bundle.order * components.count,
                    (bundle.middle - bundle.order) * components.count};
  const Box box = Box::of(frame, place.first_column, place.first_row, min(area_side, grid.width - place.first_column),
                          min(area_side, grid.height - place.first_row));
  const PicturePart part{frame.x, frame.y, place.first_row, place.first_column, grid.height, grid.width};
  const Area<Bounded> area(plane, settings, box, part, store.best + blockIdx.x * area_quarters * area_quarters, memory);
  BlockLists<Bounded>(area, bundle, grid.bundle_log2, store,
                      blockIdx.x * blocks_an_area + static_cast<unsigned>(area.warp))
      .run();
}

/// Raises L around each component's centre, as far as first_within and max_quarters allow.
__global__ void best_kernel(Components components, const Frame* __restrict__ frames,
                            const PictureBundle* __restrict__ bundles, PictureGrid grid, unsigned first_bundle,
                            unsigned* __restrict__ best) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= components.count) return;
  const unsigned number = first_bundle + blockIdx.y;
  const PictureBundle bundle = bundles[number];
  const Frame frame = frames[bundle.first];
  const Place place = components.place[bundle.middle * components.count + i];
  constexpr double a_quarter = 1.0 / quarter_side;
  const double x = floor((place.x - frame.x) * frame.a_step_x * a_quarter);
  const double y = floor((place.y - frame.y) * frame.a_step_y * a_quarter);
  const int quarters_x = (grid.width + quarter_side - 1) / quarter_side;
  const int quarters_y = (grid.height + quarter_side - 1) / quarter_side;
  if (!(x >= -max_quarters && y >= -max_quarters && x < quarters_x + max_quarters && y < quarters_y + max_quarters)) {
    return;
  }
  // Coordinates relative to the quarter of its centre, in pixels.
  const Box box = Box::of(frame, x * quarter_side, y * quarter_side, quarter_side, quarter_side);
  const Local local = box.local_of(place);
  LocalSpan span;
  if (components.span != nullptr) span = LocalSpan::of(components.span[bundle.order * components.count + i], box);
  const Reached reached(local, span, (max_quarters + 1) * quarter_side);
  const float wide = first_within / local.across;
  const float high = reached.height(first_within);
  const auto quarter_at = [](float at) {
    return static_cast<int>(fminf(fmaxf(floorf(at * (1.0F / quarter_side)), -max_quarters), max_quarters));
  };
  const int middle_x = static_cast<int>(x);
  const int middle_y = static_cast<int>(y);
  const int left = max(quarter_at(local.x - wide), -middle_x);
  const int right = min(quarter_at(local.x + wide), quarters_x - 1 - middle_x);
  const int top = max(quarter_at(local.y - high), -middle_y);
  const int bottom = min(quarter_at(local.y + high), quarters_y - 1 - middle_y);
  const unsigned first_area = number * static_cast<unsigned>(grid.areas_x * grid.areas_y) - grid.first;
  for (int row = top; row <= bottom; ++row) {
    for (int column = left; column <= right; ++column) {
      const int quarter_x = middle_x + column;
      const int quarter_y = middle_y + row;
      const unsigned area =
          first_area + static_cast<unsigned>(quarter_y / area_quarters * grid.areas_x + quarter_x / area_quarters);
      if (area >= grid.areas) continue;
      const auto x0 = static_cast<float>(column * quarter_side);
      const auto y0 = static_cast<float>(row * quarter_side);
      const float least = reached.least(x0, x0 + quarter_side - 1, y0, y0 + quarter_side - 1);
      if (!(least > -1e30F)) continue;
      unsigned* const of_area = best + area * area_quarters * area_quarters;
      atomicMax(of_area + quarter_y % area_quarters * area_quarters + quarter_x % area_quarters, ordered_bits(least));
    }
  }
}

/// Records of blocks that sum all components.
__global__ void list_all_kernel(PictureGrid grid, const PictureBundle* __restrict__ bundles, ListStore store) {
  const unsigned block = blockIdx.x * blockDim.x + threadIdx.x;
  if (block >= grid.areas * blocks_an_area) return;
  BlockPlace place = find_place(grid, block);
  const PictureBundle bundle = bundles[place.picture];
  place.picture = bundle.first;
  const bool inside = place.first_column < grid.width && place.first_row < grid.height;
  store.block[block] = {place, 1, bundle.order, inside ? BlockSum::exact_all : BlockSum::nothing, 0, 0, false, 0, 0, 0,
                        {},    {}};
  for (unsigned tile = 0; inside && tile < tiles_a_block; ++tile) add_exact(store, block, tile);
}

}  // namespace

void list_components(const Components& components, const Frame* frames, const PictureBundle* bundles,
                     const PictureGrid& grid, const ListSettings& settings, const ListStore& store,
                     cudaStream_t stream) {
  if (settings.selection == SmoeSelection::all) {
    list_all_kernel<<<cuda::blocks_for(grid.areas * blocks_an_area, area_threads), area_threads, 0, stream>>>(
        grid, bundles, store);
    cuda::check_launch("list_all_kernel");
    return;
  }
  if (settings.selection == SmoeSelection::bounded) {
    const auto of_picture = static_cast<unsigned>(grid.areas_x * grid.areas_y);
    const unsigned first = grid.first / of_picture;
    const dim3 parts(cuda::blocks_for(components.count, area_threads),
                     (grid.first + grid.areas - 1) / of_picture - first + 1);
    best_kernel<<<parts, area_threads, 0, stream>>>(components, frames, bundles, grid, first, store.best);
    cuda::check_launch("best_kernel");
  }
  auto* const kernel = settings.selection == SmoeSelection::bounded ? list_kernel<true> : list_kernel<false>;
  kernel<<<grid.areas, area_threads, 0, stream>>>(components, frames, bundles, grid, settings, store);
  cuda::check_launch("list_kernel");
}

std::vector<KernelResources> list_kernels() {
  return {resources_of("best_kernel", best_kernel, area_threads),
          resources_of("list_kernel", list_kernel<true>, area_threads)};
}

}  // namespace holotone::smoe

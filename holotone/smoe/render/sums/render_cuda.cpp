// Rendering of models on CUDA: planes, lists, sums, many views at a time.
#include <algorithm>
#include <bit>
#include <cmath>
#include <holotone/smoe/render/render_engine.hpp>
#include <holotone/smoe/render/sums/tile_sums_cuda.cuh>
#include <optional>

namespace holotone::smoe {
namespace {

constexpr std::int64_t max_areas = 8192;  // areas of a pass
constexpr std::int64_t max_slots = blocks_an_area * max_areas;
constexpr std::int64_t few_chunks = 8192;
constexpr std::int64_t max_chunks = 1 << 18;

class CudaEngine final : public SmoeRenderer::Engine {
 public:
  CudaEngine(const SmoeModel& model, Queue queue, const SmoeRenderOptions& options)
      : model_(model), queue_(std::move(queue)), options_(options), cells_(model, queue_) {
    int count = 0;
    cuda::check(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, queue_.device().index),
                "cudaDeviceGetAttribute");
    processors_ = static_cast<unsigned>(count);
  }

  void render(std::span<const SmoeView> views, View<float, 4> images, Progress& /*progress*/) override {
    const cuda::DeviceScope scope(queue_.device());
    set_frames(views);
    const Shape<2> size = views.front().size;
    PictureGrid grid{static_cast<int>(size[1]), static_cast<int>(size[0]), 0, 0, 0, 0, 0};
    grid.areas_x = (grid.width + area_side - 1) / area_side;
    grid.areas_y = (grid.height + area_side - 1) / area_side;
    grid.bundle_log2 = bundle_log2_;
    const std::int64_t all = std::int64_t{grid.areas_x} * grid.areas_y * std::ssize(bundles_);
    render_bands(grid, all, images.data());
    if (options_.selection == SmoeSelection::window && fitting_ != size) {
      while (!lists_fit()) render_bands(grid, all, images.data());
      fitting_ = size;
    }
    tiles_ = (size[0] + tile_side - 1) / tile_side * ((size[1] + tile_side - 1) / tile_side) * std::ssize(views);
  }

  [[nodiscard]] SmoeRenderInfo info() const override {
    const cuda::DeviceScope scope(queue_.device());
    const auto counts = counts_of_bands();
    SmoeRenderInfo info;
    info.tile = {tile_side, tile_side};
    double sum = 0;
    for (const auto& count : counts) {
      for (const Tally& tally : count.tally) {
        sum += static_cast<double>(tally.in_all);
        info.max_components = std::max<std::int64_t>(info.max_components, tally.most);
      }
      info.robust_tiles += std::int64_t{count.exact} + count.rough;
    }
    info.components_per_tile = tiles_ > 0 ? sum / static_cast<double>(tiles_) : 0;
    return info;
  }

 private:
  void set_frames(std::span<const SmoeView> views) {
    const auto free = static_cast<std::size_t>(model_.dimensions - 2);
    std::vector<Frame> frames;
    std::vector<double> at;
    for (const auto& view : views) {
      const double step_x = view.extent[0] / static_cast<double>(view.size[1]);
      const double step_y = view.extent[1] / static_cast<double>(view.size[0]);
      Frame frame{
          view.corner[0] + 0.5 * step_x, view.corner[1] + 0.5 * step_y, step_x, step_y, 1 / step_x, 1 / step_y, 0};
      if (free > 0) {
        frame.plane = static_cast<unsigned>(frames.size());
        at.insert(at.end(), view.at.begin(), view.at.end());
      }
      frames.push_back(frame);
    }
    const auto bundles = bundle_pictures(frames, at);
    if (frames != set_ || at != set_at_) fitting_ = {};
    set_at_ = std::move(at);
    if (bundles != bundles_) {
      bundles_ = bundles;
      reserve(device_bundles_, std::ssize(bundles_), queue_);
      copy_bytes(device_bundles_.data(), queue_.device(), bundles_.data(), Device{},
                 bundles_.size() * sizeof(PictureBundle), queue_);
    }
    if (frames == set_) return;
    reserve(frames_, std::ssize(frames), queue_);
    copy_bytes(frames_.data(), queue_.device(), frames.data(), Device{}, frames.size() * sizeof(Frame), queue_);
    set_ = std::move(frames);
  }

  /// Bundles of pictures that share lists: the same part of close planes.
  std::vector<PictureBundle> bundle_pictures(const std::vector<Frame>& frames, const std::vector<double>& at) {
    const auto pictures = static_cast<unsigned>(frames.size());
    std::vector<PictureBundle> bundles;
    bundle_log2_ = 0;
    if (model_.dimensions == 2) {
      cells_.set_planes(at, {{0, 1, 0}});
      for (unsigned picture = 0; picture < pictures; ++picture) bundles.push_back({picture, 1, 0, 0});
      return bundles;
    }
    const bool same = std::all_of(frames.begin(), frames.end(), [&](const Frame& frame) {
      Frame other = frame;
      other.plane = frames.front().plane;
      return other == frames.front();
    });
    const bool together = same && options_.selection == SmoeSelection::bounded;
    const auto& frame = frames.front();
    const auto planes = cells_.bundle_planes(at, pictures, together ? 1U << max_planes_log2 : 1,
                                             std::max(std::abs(frame.a_step_x), std::abs(frame.a_step_y)));
    cells_.set_planes(at, planes);
    for (const PlaneBundle& plane : planes) {
      bundles.push_back({plane.first, plane.planes, static_cast<unsigned>(bundles.size()), plane.middle});
      bundle_log2_ = std::max(bundle_log2_, static_cast<unsigned>(std::bit_width(plane.planes - 1)));
    }
    return bundles;
  }

  [[nodiscard]] std::vector<ListCounts> counts_of_bands() const {
    std::vector<ListCounts> counts(static_cast<std::size_t>(bands_));
    queue_.synchronize();
    if (bands_ > 0) {
      cuda::check(cudaMemcpy(counts.data(), counts_.data(), counts.size() * sizeof(ListCounts), cudaMemcpyDeviceToHost),
                  "cudaMemcpy");
    }
    return counts;
  }

  /// True if the lists of all blocks had room. Blocks without room have summed all components: this satisfies the error
  /// bound of `bounded`, but not the definition of `window`. Prepares another try with more room, or with fewer areas
  /// at once if that is too much.
  [[nodiscard]] bool lists_fit() {
    std::int64_t taken = 0;
    for (const auto& counts : counts_of_bands()) taken = std::max<std::int64_t>(taken, counts.chunks);
    if (taken <= chunks_) return true;
    const std::int64_t room = std::max(max_chunks, blocks_an_area * chunks_of_all());
    if (taken > room && areas_at_once_ > 1) {
      areas_at_once_ = (areas_at_once_ + 1) / 2;
    } else {
      wanted_chunks_ = std::min(taken, room);
    }
    return false;
  }

  /// Chunks of a list of all components.
  [[nodiscard]] std::int64_t chunks_of_all() const { return model_.count() / (max_in_unit - 31) + 1; }

  void reserve_store(std::int64_t blocks) {
    first_free_ = blocks;
    const std::int64_t of_pictures = blocks << bundle_log2_;
    const std::int64_t slots = std::min(of_pictures, max_slots);
    // A block takes at most the chunks of all components, all of them together rarely more than one each.
    const std::int64_t taken = std::clamp(blocks + 4 * model_.count() / max_in_unit, few_chunks, max_chunks);
    chunks_ = std::min(std::max(taken, wanted_chunks_), blocks * chunks_of_all());
    reserve(blocks_, blocks, queue_);
    reserve(listed_, (blocks + chunks_) * max_in_unit, queue_);
    reserve(chunk_, blocks + chunks_, queue_);
    reserve(units_, (blocks + chunks_) << bundle_log2_, queue_);
    reserve(exact_tiles_, tiles_a_block * of_pictures, queue_);
    reserve(best_, blocks * quarters_a_block, queue_);
    if (turns_.size() < slots) {
      reserve(turns_, slots, queue_);
      cuda::check(cudaMemsetAsync(turns_.data(), 0, turns_.bytes(), cuda::stream_of(queue_)), "cudaMemsetAsync");
    }
    reserve(slots_, slots * (model_.channels + 2) * block_side * block_side, queue_);
  }

  void render_bands(PictureGrid grid, std::int64_t all, float* images) {
    reserve_store(std::min(all, areas_at_once_) * blocks_an_area);
    bands_ = (all + areas_at_once_ - 1) / areas_at_once_;
    reserve(counts_, bands_, queue_);
    cuda::check(cudaMemsetAsync(counts_.data(), 0, counts_.bytes(), cuda::stream_of(queue_)), "cudaMemsetAsync");
    for (std::int64_t band = 0; band < bands_; ++band) {
      grid.first = static_cast<unsigned>(band * areas_at_once_);
      grid.areas = static_cast<unsigned>(std::min(all - band * areas_at_once_, areas_at_once_));
      render_blocks(grid, counts_.data() + band, images);
    }
  }

  void render_blocks(const PictureGrid& grid, ListCounts* counts, float* images) {
    const auto stream = cuda::stream_of(queue_);
    const ListStore store{blocks_.data(),
                          units_.data(),
                          listed_.data(),
                          chunk_.data(),
                          exact_tiles_.data(),
                          best_.data(),
                          counts,
                          static_cast<unsigned>(first_free_),
                          static_cast<unsigned>(chunks_),
                          static_cast<unsigned>(max_slots)};
    const ListSettings settings{options_.selection,
                                static_cast<float>(options_.tolerance),
                                static_cast<float>(options_.window_px),
                                options_.window_block_px > 0 ? static_cast<int>(options_.window_block_px) : tile_side,
                                options_.precision == SmoePrecision::robust,
                                model_.channels};
    cuda::check(
        cudaMemsetAsync(best_.data(), 0, grid.areas * blocks_an_area * quarters_a_block * sizeof(unsigned), stream),
        "cudaMemsetAsync");
    list_components(cells_.components(), frames_.data(), device_bundles_.data(), grid, settings, store, stream);
    sum_components(cells_.components(), frames_.data(), grid, model_.channels, store, {turns_.data(), slots_.data()},
                   images, processors_, stream);
  }

  const SmoeModel& model_;
  Queue queue_;
  SmoeRenderOptions options_;
  ComponentCells cells_;
  unsigned processors_ = 0;
  std::int64_t areas_at_once_ = max_areas;
  std::int64_t wanted_chunks_ = 0;
  std::optional<Shape<2>> fitting_;  ///< size of pictures from `set_` and `set_at_` whose lists are known to have room
  std::int64_t tiles_ = 0;
  std::int64_t bands_ = 0;
  std::int64_t first_free_ = 0;
  std::int64_t chunks_ = 0;
  std::vector<Frame> set_;
  std::vector<double> set_at_;  ///< fixed coordinates of the same views
  Array<Frame, 1> frames_;      ///< set_ on the device
  std::vector<PictureBundle> bundles_;
  unsigned bundle_log2_ = 0;
  Array<PictureBundle, 1> device_bundles_;  ///< bundles_ on the device
  Array<Block, 1> blocks_;
  Array<Unit, 1> units_;
  Array<Listed, 1> listed_;
  Array<Chunk, 1> chunk_;
  Array<unsigned, 1> exact_tiles_;
  Array<unsigned, 1> best_;
  Array<unsigned, 1> turns_;
  Array<float, 1> slots_;
  Array<ListCounts, 1> counts_;
};

}  // namespace

EnginePointer engine_cuda(const SmoeModel& model, const Queue& queue, const SmoeRenderOptions& options) {
  const cuda::DeviceScope scope(queue.device());  // the components are prepared
  return std::make_unique<CudaEngine>(model, queue, options);
}

}  // namespace holotone::smoe

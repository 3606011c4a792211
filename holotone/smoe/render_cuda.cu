#include <algorithm>
#include <holotone/smoe/render_engine.hpp>
#include <holotone/smoe/sums_cuda.cuh>

namespace holotone::smoe {
namespace {

constexpr std::int64_t most_areas = 8192;  ///< at once
constexpr std::int64_t few_chunks = 8192;
constexpr std::int64_t most_chunks = 1 << 18;

class CudaEngine final : public SmoeRenderer::Engine {
 public:
  CudaEngine(const SmoeModel& model, Queue queue, const SmoeRenderOptions& options)
      : model_(model), queue_(std::move(queue)), options_(options), cells_(model, queue_) {
    int count = 0;
    cuda::check(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, queue_.device().index),
                "cudaDeviceGetAttribute");
    processors_ = static_cast<unsigned>(count);
  }

  void render(std::span<const SmoeView> views, View<float, 4> images) override {
    set_frames(views);
    const Shape<2> size = views.front().size;
    PictureGrid grid{static_cast<int>(size[1]), static_cast<int>(size[0]), 0, 0, 0, 0};
    grid.areas_x = (grid.width + area_side - 1) / area_side;
    grid.areas_y = (grid.height + area_side - 1) / area_side;
    const std::int64_t all = std::int64_t{grid.areas_x} * grid.areas_y * std::ssize(views);
    reserve_store(std::min(all, most_areas) * blocks_an_area);
    bands_ = (all + most_areas - 1) / most_areas;
    reserve(counts_, bands_, queue_);
    cuda::check(cudaMemsetAsync(counts_.data(), 0, counts_.bytes(), cuda::stream_of(queue_)), "cudaMemsetAsync");
    for (std::int64_t band = 0; band < bands_; ++band) {
      grid.first = static_cast<unsigned>(band * most_areas);
      grid.areas = static_cast<unsigned>(std::min(all - band * most_areas, most_areas));
      render_blocks(grid, views.front(), counts_.data() + band, images.data());
    }
    tiles_ = (size[0] + tile_side - 1) / tile_side * ((size[1] + tile_side - 1) / tile_side) * std::ssize(views);
  }

  [[nodiscard]] SmoeRenderInfo info() const override {
    std::vector<ListCounts> counts(static_cast<std::size_t>(bands_));
    queue_.synchronize();
    if (bands_ > 0) {
      cuda::check(cudaMemcpy(counts.data(), counts_.data(), counts.size() * sizeof(ListCounts), cudaMemcpyDeviceToHost),
                  "cudaMemcpy");
    }
    SmoeRenderInfo info;
    info.tile = {tile_side, tile_side};
    double sum = 0;
    for (const auto& own : counts) {
      sum += static_cast<double>(own.in_all);
      info.most_components = std::max<std::int64_t>(info.most_components, own.most);
      info.robust_tiles += std::int64_t{own.exact} * tiles_a_block;
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
    cells_.set_planes(at, free > 0 ? static_cast<int>(views.size()) : 1);
    if (frames == set_) return;
    reserve(frames_, std::ssize(frames), queue_);
    copy_bytes(frames_.data(), queue_.device(), frames.data(), Device{}, frames.size() * sizeof(Frame), queue_);
    set_ = std::move(frames);
  }

  void reserve_store(std::int64_t blocks) {
    first_free_ = blocks;
    // A block takes at most as many as all components fill, all of them together rarely more than one each.
    const std::int64_t taken = std::max(blocks + 4 * model_.count() / most_in_unit, few_chunks);
    chunks_ = std::min({taken, blocks * (model_.count() / (most_in_unit - 31)), most_chunks});
    reserve(blocks_, blocks, queue_);
    reserve(listed_, (blocks + chunks_) * most_in_unit, queue_);
    reserve(chunk_, blocks + chunks_, queue_);
    reserve(units_, blocks + chunks_, queue_);
    reserve(exact_blocks_, blocks, queue_);
    reserve(best_, blocks * quarters_a_block, queue_);
    if (turns_.size() < blocks) {
      reserve(turns_, blocks, queue_);
      cuda::check(cudaMemsetAsync(turns_.data(), 0, turns_.bytes(), cuda::stream_of(queue_)), "cudaMemsetAsync");
    }
    reserve(slots_, blocks * (model_.channels + 1) * block_side * block_side, queue_);
  }

  void render_blocks(const PictureGrid& grid, const SmoeView& view, ListCounts* counts, float* images) {
    const auto stream = cuda::stream_of(queue_);
    const ListStore store{blocks_.data(),
                          units_.data(),
                          listed_.data(),
                          chunk_.data(),
                          exact_blocks_.data(),
                          best_.data(),
                          counts,
                          static_cast<unsigned>(first_free_),
                          static_cast<unsigned>(chunks_)};
    const ListSettings settings{
        options_.selection,
        static_cast<float>(options_.tolerance),
        static_cast<float>(options_.window_px * view.extent[0] / static_cast<double>(view.size[1])),
        static_cast<float>(options_.window_px * view.extent[1] / static_cast<double>(view.size[0])),
        options_.precision == SmoePrecision::robust,
        model_.channels};
    cuda::check(
        cudaMemsetAsync(best_.data(), 0, grid.areas * blocks_an_area * quarters_a_block * sizeof(unsigned), stream),
        "cudaMemsetAsync");
    list_components(cells_.components(), frames_.data(), grid, settings, store, stream);
    sum_components(cells_.components(), frames_.data(), grid, model_.channels, store, {turns_.data(), slots_.data()},
                   images, processors_, stream);
  }

  const SmoeModel& model_;
  Queue queue_;
  SmoeRenderOptions options_;
  ComponentCells cells_;
  unsigned processors_ = 0;
  std::int64_t tiles_ = 0;
  std::int64_t bands_ = 0;
  std::int64_t first_free_ = 0;
  std::int64_t chunks_ = 0;
  std::vector<Frame> set_;
  Array<Frame, 1> frames_;  ///< the same
  Array<Block, 1> blocks_;
  Array<Unit, 1> units_;
  Array<Listed, 1> listed_;
  Array<Chunk, 1> chunk_;
  Array<unsigned, 1> exact_blocks_;
  Array<unsigned, 1> best_;
  Array<unsigned, 1> turns_;
  Array<float, 1> slots_;
  Array<ListCounts, 1> counts_;
};

}  // namespace

EnginePointer engine_cuda(const SmoeModel& model, const Queue& queue, const SmoeRenderOptions& options) {
  return std::make_unique<CudaEngine>(model, queue, options);
}

}  // namespace holotone::smoe

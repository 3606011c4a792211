#include <bench/baselines/avramelos_component.hpp>
#include <bench/baselines/avramelos_passes.hpp>
#include <holotone/core/parallel.hpp>
#include <stdexcept>

namespace bench {
namespace {

using holotone::Array;
using holotone::Queue;
using holotone::SmoeModel;
using holotone::View;

/// The model's floats, ComponentLayout<D>::size for each component.
template <int D>
std::vector<float> packed(const SmoeModel& model) {
  using Layout = ComponentLayout<D>;
  std::vector<float> all(static_cast<std::size_t>(model.count() * Layout::size));
  for (std::int64_t j = 0; j < model.count(); ++j) {
    float* const record = all.data() + j * Layout::size;
    const auto common = AvramelosDecoder<float, D>::common_of(model, j);
    record[0] = common.peak;
    for (int k = 0; k < D; ++k) record[Layout::centre + k] = common.centre[k];
    std::copy_n(model.covariance.data() + j * holotone::triangle_size(D), holotone::triangle_size(D),
                record + Layout::covariance);
    for (int c = 0; c < Layout::colours; ++c) {
      record[Layout::colour + c] = common.colour[c];
      for (int k = 0; k < D; ++k) record[Layout::cross + c * D + k] = common.cross[c][k];
    }
  }
  return all;
}

template <int D, bool Slow>
void decode_on_cpu(const AvramelosPasses::Input& input, View<float, 3> image) {
  holotone::parallel_for(0, input.area.height, [&](std::int64_t row) {
    for (std::int64_t column = 0; column < input.area.width; ++column) {
      const SmallVector<float, D> x{static_cast<float>(input.area.left + column) + 0.5F,
                                    static_cast<float>(input.area.top + row) + 0.5F};
      const std::int64_t block = row / input.side * input.blocks_across + column / input.side;
      PixelSums sums;
      for (std::int32_t i = input.first[block]; i < input.first[block + 1]; ++i) {
        const std::int64_t j = input.component[i];
        add_component<D, Slow>(input.model + j * ComponentLayout<D>::size, x, sums);
      }
      for (int c = 0; c < 3; ++c) image(row, column, c) = sums.mean(c);
    }
  });
}

template <class T>
Array<T, 1> uploaded(const std::vector<T>& values, const Queue& queue) {
  Array<T, 1> array({std::ssize(values)}, queue);
  copy_bytes(array.data(), queue.device(), values.data(), holotone::Device{}, values.size() * sizeof(T), queue);
  queue.synchronize();
  return array;
}

}  // namespace

BlockLists window_lists(const SmoeModel& model, const holotone::Shape<2>& size, std::int64_t side, double window_px) {
  const std::int64_t ny = size[0];
  const std::int64_t nx = size[1];
  const std::int64_t across = (nx + side - 1) / side;
  BlockLists lists{
      side, std::vector<std::int32_t>(static_cast<std::size_t>(across * ((ny + side - 1) / side) + 1)), {}};
  const auto each = [&](const auto& visit) {
    for (std::int64_t j = 0; j < model.count(); ++j) {
      const float* const centre = model.centre.data() + j * model.dimensions;
      each_block_near(centre[1], ny, side, window_px, [&](std::int64_t row, std::int64_t) {
        each_block_near(centre[0], nx, side, window_px, [&](std::int64_t column, std::int64_t) {
          visit(static_cast<std::size_t>(row * across + column), static_cast<std::int32_t>(j));
        });
      });
    }
  };
  each([&](std::size_t block, std::int32_t) { ++lists.first[block + 1]; });
  for (std::size_t i = 1; i < lists.first.size(); ++i) lists.first[i] += lists.first[i - 1];
  lists.component.resize(static_cast<std::size_t>(lists.first.back()));
  std::vector<std::int32_t> next(lists.first);
  each([&](std::size_t block, std::int32_t j) { lists.component[static_cast<std::size_t>(next[block]++)] = j; });
  return lists;
}

AvramelosPasses::AvramelosPasses(const SmoeModel& model, const BlockLists& lists, const PixelBlock& area,
                                 DecoderMode mode, Queue queue, PassMemory memory)
    : queue_(std::move(queue)), dimensions_(model.dimensions), mode_(mode) {
  if ((dimensions_ != 2 && dimensions_ != 4) || model.channels != 3 || lists.side % group_columns != 0) {
    throw std::runtime_error("AvramelosPasses: expected 2 or 4 dimensions, 3 channels, blocks of a multiple of 16");
  }
  const bool opencl = queue_.device().backend == holotone::Backend::opencl;
  if (memory == PassMemory::global && !opencl) {
    throw std::runtime_error("AvramelosPasses: expected OpenCL for components in global memory");
  }
#if HOLOTONE_OPENCL
  if (opencl) opencl_ = std::make_shared<AvramelosPassesOpencl>(dimensions_, mode, memory, queue_);
#endif
  model_ = uploaded(dimensions_ == 2 ? packed<2>(model) : packed<4>(model), queue_);
  first_ = uploaded(lists.first, queue_);
  component_ = uploaded(lists.component, queue_);
  input_ = {model_.data(), first_.data(), component_.data(),
            area,          lists.side,    (area.width + lists.side - 1) / lists.side};
  for (std::int64_t row = 0; row < area.height; row += lists.side) {
    for (std::int64_t column = 0; column < area.width; column += lists.side) {
      const auto block = static_cast<std::size_t>(row / lists.side * input_.blocks_across + column / lists.side);
      pairs_ += (lists.first[block + 1] - lists.first[block]) * std::min(lists.side, area.height - row) *
                std::min(lists.side, area.width - column);
    }
  }
}

void AvramelosPasses::decode(View<float, 3> image) {
#if HOLOTONE_CUDA
  if (queue_.device().backend == holotone::Backend::cuda) {
    decode_passes_cuda(input_, dimensions_, mode_, image, queue_);
    return;
  }
#endif
#if HOLOTONE_OPENCL
  if (opencl_ != nullptr) {
    (*opencl_)(input_, image);
    return;
  }
#endif
  const bool slow = mode_ == DecoderMode::slow;
  if (dimensions_ == 2) {
    slow ? decode_on_cpu<2, true>(input_, image) : decode_on_cpu<2, false>(input_, image);
  } else {
    slow ? decode_on_cpu<4, true>(input_, image) : decode_on_cpu<4, false>(input_, image);
  }
}

}  // namespace bench

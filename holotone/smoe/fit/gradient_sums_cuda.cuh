#pragma once
// Sums over the pixels of pictures on a CUDA device. Not for users.
#include <holotone/smoe/fit/gradient_sums.hpp>
#include <holotone/smoe/render/selection/select_cuda.cuh>

namespace holotone::smoe {

/// Pictures of one size with their tile lists, and sum_pixels over them; the same bits in every run.
class CudaPictures {
 public:
  CudaPictures(const Shape<2>& size, int channels, Queue queue);

  /// Adds a picture {ny, nx, channels} from host memory; pictures are numbered from 0 on.
  void add(View<const float, 3> picture);
  void select(std::size_t picture, const ImageComponent* components, std::int64_t count, double tolerance);
  /// Enqueues the computation of `sums` {count} and one `total`. All pointers are to device memory; `precision` is for
  /// `joint` only.
  void sum(PixelSum what, std::size_t picture, const ImageComponent* components, const double* precision,
           std::int64_t count, ComponentSums* sums, double* total);
  [[nodiscard]] const Queue& queue() const { return queue_; }

 private:
  struct Picture {
    Array<float, 3> colours;
    DevicePairs pairs;
  };
  template <int Channels>
  void sum_channels(PixelSum what, const Picture& picture, const ImageComponent* components, const double* precision,
                    ComponentSums* sums, std::int64_t count);

  Shape<2> size_;
  int channels_;
  Queue queue_;
  CudaSelector selector_;
  std::vector<Picture> pictures_;
  Array<float, 1> of_pairs_;
  Array<double, 1> of_tiles_;
};

}  // namespace holotone::smoe

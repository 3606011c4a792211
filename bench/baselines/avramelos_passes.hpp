#pragma once
// The GPU decoder of Avramelos et al. 2020 (6.3) as its text has it: a thread a pixel, 11 components a pass. Baseline
// of the paper's tables: a kernel in CUDA and in OpenCL, and the same arithmetic on the CPU.
#include <bench/baselines/avramelos_decoder.hpp>
#include <holotone/core/array.hpp>
#include <holotone/core/kernel_resources.hpp>
#include <memory>

namespace bench {

/// Relevant components of a picture's blocks, row by row.
struct BlockLists {
  std::int64_t side = 0;                ///< of a block, pixels: a multiple of 16
  std::vector<std::int32_t> first;      ///< {blocks + 1}: begin of each block's list in `component`
  std::vector<std::int32_t> component;  ///< numbers of components
};

/// Lists by the paper's relevance window (4.1) around blocks of `side` pixels of a picture.
BlockLists window_lists(const holotone::SmoeModel& model, const holotone::Shape<2>& size, std::int64_t side,
                        double window_px);

/// Where OpenCL's groups read components.
enum class PassMemory {
  local,   ///< a pass at a time in local memory, the CUDA kernel's only way
  global,  ///< each item by itself, for comparison; OpenCL only
};

class AvramelosPassesOpencl;

/// Decodes a part of a picture from lists that were made before, as the paper times it. Weights are exponentials of the
/// log likelihood as it is; the paper mentions no largest one to subtract.
class AvramelosPasses {
 public:
  /// Uploads model and lists to the queue's device. `lists`: of the blocks of `area`. Models of 2 and 4 dimensions and
  /// three channels; the coordinates beyond x and y are 0.
  AvramelosPasses(const holotone::SmoeModel& model, const BlockLists& lists, const PixelBlock& area, DecoderMode mode,
                  holotone::Queue queue, PassMemory memory = PassMemory::local);
  /// Enqueues: colours {area.height, area.width, 3} on the queue's device.
  void decode(holotone::View<float, 3> image);
  /// Number of pairs of a pixel and a component of its list.
  [[nodiscard]] std::int64_t pairs() const { return pairs_; }

#if HOLOTONE_CUDA
  /// Resources of the kernel for models of two dimensions, on the current device.
  static holotone::KernelResources resources(DecoderMode mode);
#endif

  /// What the decoders of all devices read.
  struct Input {
    const float* model;
    const std::int32_t* first;
    const std::int32_t* component;
    PixelBlock area;
    std::int64_t side;
    std::int64_t blocks_across;
  };

 private:
  holotone::Queue queue_;
  int dimensions_;
  DecoderMode mode_;
  std::int64_t pairs_ = 0;
  holotone::Array<float, 1> model_;
  holotone::Array<std::int32_t, 1> first_;
  holotone::Array<std::int32_t, 1> component_;
  Input input_{};
  std::shared_ptr<AvramelosPassesOpencl> opencl_;
};

#if HOLOTONE_CUDA
void decode_passes_cuda(const AvramelosPasses::Input& input, int dimensions, DecoderMode mode,
                        holotone::View<float, 3> image, const holotone::Queue& queue);
#endif

#if HOLOTONE_OPENCL
/// What OpenCL reports of a kernel, in bytes and work items.
struct GroupResources {
  std::size_t local_bytes = 0;    ///< of a group
  std::size_t private_bytes = 0;  ///< of an item, in memory
  std::size_t largest_group = 0;
  std::size_t group_multiple = 0;  ///< items that the device runs together
};

/// The decoder's kernel in OpenCL. DecoderMode::fast has native_exp and native_log, slow the functions of full
/// precision.
class AvramelosPassesOpencl {
 public:
  AvramelosPassesOpencl(int dimensions, DecoderMode mode, PassMemory memory, const holotone::Queue& queue);
  ~AvramelosPassesOpencl();
  AvramelosPassesOpencl(const AvramelosPassesOpencl&) = delete;
  AvramelosPassesOpencl& operator=(const AvramelosPassesOpencl&) = delete;
  /// Enqueues domains of whole blocks, at most 512 x 512 pixels each.
  void operator()(const AvramelosPasses::Input& input, holotone::View<float, 3> image);
  [[nodiscard]] GroupResources resources() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};
#endif

}  // namespace bench

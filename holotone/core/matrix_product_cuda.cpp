#include <cublasLt.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <holotone/core/cuda_check.hpp>
#include <holotone/core/matrix_product_cuda.hpp>
#include <map>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

namespace holotone::cuda {
namespace {

constexpr int candidate_count = 16;
constexpr int timing_rounds = 5;

void check_blas(cublasStatus_t status, const char* call) {
  if (status != CUBLAS_STATUS_SUCCESS) {
    throw Error(ErrorCode::device, std::string(call) + ": " + cublasLtGetStatusString(status));
  }
}

/// One cuBLASLt handle a device, for the life of the process.
cublasLtHandle_t handle_of(Device device) {
  static std::mutex mutex;
  static std::map<int, cublasLtHandle_t> handles;
  const std::lock_guard lock(mutex);
  auto& handle = handles[device.index];
  if (handle == nullptr) check_blas(cublasLtCreate(&handle), "cublasLtCreate");
  return handle;
}

template <class T, cublasStatus_t (*Destroy)(T)>
struct Handle {
  T value = nullptr;
  Handle() = default;
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() {
    if (value != nullptr) Destroy(value);
  }
};
using Operation = Handle<cublasLtMatmulDesc_t, cublasLtMatmulDescDestroy>;
using Layout = Handle<cublasLtMatrixLayout_t, cublasLtMatrixLayoutDestroy>;
using Preference = Handle<cublasLtMatmulPreference_t, cublasLtMatmulPreferenceDestroy>;

void make_layout(Layout& layout, cudaDataType type, std::int64_t rows, std::int64_t columns,
                 std::int64_t batch) {
  check_blas(cublasLtMatrixLayoutCreate(&layout.value, type, rows, columns, rows),
             "cublasLtMatrixLayoutCreate");
  const auto count = static_cast<std::int32_t>(batch);
  const std::int64_t stride = rows * columns;
  check_blas(cublasLtMatrixLayoutSetAttribute(layout.value, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count,
                                              sizeof count),
             "cublasLtMatrixLayoutSetAttribute(batch)");
  check_blas(cublasLtMatrixLayoutSetAttribute(layout.value, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET,
                                              &stride, sizeof stride),
             "cublasLtMatrixLayoutSetAttribute(stride)");
}

/// Depths of one quarter octave share an algorithm, so that clouds of changing size are not timed again and
/// again.
std::int64_t depth_class(std::int64_t depth) {
  const int bits = std::max(2, static_cast<int>(std::bit_width(static_cast<std::uint64_t>(depth)))) - 1;
  return bits * 4 + ((depth >> (bits - 2)) & 3);
}

using ShapeKey = std::tuple<int, int, std::int64_t, std::int64_t, std::int64_t, std::int64_t>;

struct Choices {
  std::mutex mutex;
  std::map<ShapeKey, cublasLtMatmulAlgo_t> algorithm;
};
Choices& choices() {
  static Choices all;
  return all;
}

}  // namespace

struct MatrixProduct::State {
  MatrixProductShape shape;
  Queue queue;
  void* scratch = nullptr;
  cublasLtHandle_t handle = nullptr;
  Operation operation;
  Layout a;
  Layout b;
  Layout c;
  cublasLtMatmulAlgo_t algorithm{};
  bool chosen = false;

  [[nodiscard]] ShapeKey key() const {
    return {queue.device().index, static_cast<int>(shape.element), shape.rows,
            shape.columns,        depth_class(shape.depth),        shape.batch};
  }

  cublasStatus_t launch(const cublasLtMatmulAlgo_t& with, const void* pa, const void* pb, void* pc,
                        bool accumulate) const {
    const float one = 1;
    const float add = accumulate ? 1.F : 0.F;
    const std::int32_t one_int = 1;
    const std::int32_t add_int = accumulate ? 1 : 0;
    const bool floating = shape.element == MatrixElement::float16;
    // cuBLASLt is column-major: C^T (columns x rows) = B A^T. B comes first.
    return cublasLtMatmul(handle, operation.value, floating ? static_cast<const void*>(&one) : &one_int, pb,
                          b.value, pa, a.value, floating ? static_cast<const void*>(&add) : &add_int, pc,
                          c.value, pc, c.value, &with, scratch, workspace_bytes, stream_of(queue));
  }

  /// Median milliseconds of some launches, or infinity if the algorithm does not run.
  float time(const cublasLtMatmulAlgo_t& with, const void* pa, const void* pb, void* pc) const {
    if (launch(with, pa, pb, pc, false) != CUBLAS_STATUS_SUCCESS) return INFINITY;
    std::array<cudaEvent_t, timing_rounds + 1> events{};
    for (auto& event : events) check(cudaEventCreate(&event), "cudaEventCreate");
    check(cudaEventRecord(events[0], stream_of(queue)), "cudaEventRecord");
    for (std::size_t i = 1; i < events.size(); ++i) {
      launch(with, pa, pb, pc, false);
      check(cudaEventRecord(events[i], stream_of(queue)), "cudaEventRecord");
    }
    check(cudaEventSynchronize(events.back()), "MatrixProduct::choose");
    std::array<float, timing_rounds> spans{};
    for (std::size_t i = 0; i < spans.size(); ++i) cudaEventElapsedTime(&spans[i], events[i], events[i + 1]);
    for (auto& event : events) cudaEventDestroy(event);
    std::nth_element(spans.begin(), spans.begin() + timing_rounds / 2, spans.end());
    return spans[timing_rounds / 2];
  }

  [[nodiscard]] std::vector<cublasLtMatmulAlgo_t> candidates() const {
    Preference preference;
    check_blas(cublasLtMatmulPreferenceCreate(&preference.value), "cublasLtMatmulPreferenceCreate");
    const std::size_t bytes = workspace_bytes;
    check_blas(cublasLtMatmulPreferenceSetAttribute(
                   preference.value, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &bytes, sizeof bytes),
               "cublasLtMatmulPreferenceSetAttribute");
    std::array<cublasLtMatmulHeuristicResult_t, candidate_count> results{};
    int found = 0;
    check_blas(cublasLtMatmulAlgoGetHeuristic(handle, operation.value, b.value, a.value, c.value, c.value,
                                              preference.value, candidate_count, results.data(), &found),
               "cublasLtMatmulAlgoGetHeuristic");
    std::vector<cublasLtMatmulAlgo_t> all;
    for (int i = 0; i < found; ++i) all.push_back(results[static_cast<std::size_t>(i)].algo);
    return all;
  }

  /// Whether an algorithm chosen for another depth of the class works for this one.
  [[nodiscard]] bool fits(const cublasLtMatmulAlgo_t& candidate) const {
    cublasLtMatmulHeuristicResult_t result{};
    return cublasLtMatmulAlgoCheck(handle, operation.value, b.value, a.value, c.value, c.value, &candidate,
                                   &result) == CUBLAS_STATUS_SUCCESS &&
           result.workspaceSize <= workspace_bytes;
  }
};

MatrixProduct::MatrixProduct(const MatrixProductShape& shape, const Queue& queue, void* scratch)
    : state_(std::make_unique<State>()) {
  const DeviceScope scope(queue.device());
  State& s = *state_;
  s.shape = shape;
  s.queue = queue;
  s.scratch = scratch;
  s.handle = handle_of(queue.device());
  const bool floating = shape.element == MatrixElement::float16;
  check_blas(cublasLtMatmulDescCreate(&s.operation.value, floating ? CUBLAS_COMPUTE_32F : CUBLAS_COMPUTE_32I,
                                      floating ? CUDA_R_32F : CUDA_R_32I),
             "cublasLtMatmulDescCreate");
  const cublasOperation_t transpose = CUBLAS_OP_T;
  check_blas(cublasLtMatmulDescSetAttribute(s.operation.value, CUBLASLT_MATMUL_DESC_TRANSA, &transpose,
                                            sizeof transpose),
             "cublasLtMatmulDescSetAttribute");
  const cudaDataType in = floating ? CUDA_R_16F : CUDA_R_8I;
  const cudaDataType out = floating ? CUDA_R_32F : CUDA_R_32I;
  make_layout(s.a, in, shape.depth, shape.rows, shape.batch);
  make_layout(s.b, in, shape.depth, shape.columns, shape.batch);
  make_layout(s.c, out, shape.columns, shape.rows, shape.batch);
}

MatrixProduct::~MatrixProduct() = default;
MatrixProduct::MatrixProduct(MatrixProduct&&) noexcept = default;
MatrixProduct& MatrixProduct::operator=(MatrixProduct&&) noexcept = default;

void MatrixProduct::choose(const void* a, const void* b, void* c) {
  State& s = *state_;
  if (s.chosen) return;
  const DeviceScope scope(s.queue.device());
  auto& known = choices();
  const std::lock_guard lock(known.mutex);
  const auto key = s.key();
  if (const auto found = known.algorithm.find(key); found != known.algorithm.end() && s.fits(found->second)) {
    s.algorithm = found->second;
  } else {
    float best = INFINITY;
    for (const auto& candidate : s.candidates()) {
      if (const float span = s.time(candidate, a, b, c); span < best) {
        best = span;
        s.algorithm = candidate;
      }
    }
    if (best == INFINITY) {
      throw Error(ErrorCode::device,
                  "MatrixProduct: cuBLASLt has no algorithm for " + std::to_string(s.shape.rows) + " x " +
                      std::to_string(s.shape.columns) + " x " + std::to_string(s.shape.depth));
    }
    known.algorithm[key] = s.algorithm;
  }
  s.chosen = true;
}

void MatrixProduct::run(const void* a, const void* b, void* c, bool accumulate) const {
  const DeviceScope scope(state_->queue.device());
  check_blas(state_->launch(state_->algorithm, a, b, c, accumulate), "cublasLtMatmul");
}

const MatrixProductShape& MatrixProduct::shape() const { return state_->shape; }

}  // namespace holotone::cuda

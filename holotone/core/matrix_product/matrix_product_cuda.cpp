#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cublasLt.h>
#include <cuda_runtime.h>
#include <holotone/core/cuda_check.hpp>
#include <holotone/core/cuda_library.hpp>
#include <holotone/core/graph_cuda.hpp>
#include <holotone/core/matrix_product/matrix_product_cuda.hpp>
#include <holotone/core/matrix_product/matrix_product_kernel_cuda.hpp>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace holotone::cuda {
namespace {

constexpr int candidate_count = 48;
constexpr std::size_t finalist_count = 5;
constexpr int final_rounds = 6;
constexpr float max_short_span = 0.2F;  ///< milliseconds
constexpr int short_launches = 10;
/// Operations of the largest product of the own kernel: 20 ms at 500 tera a second, a tenth of cuBLASLt's start.
constexpr double max_own_operations = 1e13;

#define HOLOTONE_CUBLASLT(apply)                                                                             \
  apply(cublasLtCreate) apply(cublasLtGetStatusString) apply(cublasLtMatmul) apply(cublasLtMatmulAlgoCheck)  \
      apply(cublasLtMatmulAlgoGetHeuristic) apply(cublasLtMatmulDescCreate) apply(cublasLtMatmulDescDestroy) \
          apply(cublasLtMatmulDescSetAttribute) apply(cublasLtMatmulPreferenceCreate)                        \
              apply(cublasLtMatmulPreferenceDestroy) apply(cublasLtMatmulPreferenceSetAttribute)             \
                  apply(cublasLtMatrixLayoutCreate) apply(cublasLtMatrixLayoutDestroy)                       \
                      apply(cublasLtMatrixLayoutSetAttribute)
struct Blas {
  HOLOTONE_LIBRARY_FUNCTIONS(Blas, HOLOTONE_CUBLASLT)
};

/// Half a gigabyte: loaded for the first product.
const Blas& blas() {
  static const Blas functions(versions_of(CudaLibrary::cublaslt));
  return functions;
}

void check_blas(cublasStatus_t status, const char* call) {
  if (status != CUBLAS_STATUS_SUCCESS) {
    throw Error(ErrorCode::device, std::string(call) + ": " + blas().cublasLtGetStatusString(status));
  }
}

/// One cuBLASLt handle for each device, until the process ends.
cublasLtHandle_t find_handle(Device device) {
  static std::mutex mutex;
  static std::map<int, cublasLtHandle_t> handles;
  const std::lock_guard lock(mutex);
  auto& handle = handles[device.index];
  if (handle == nullptr) check_blas(blas().cublasLtCreate(&handle), "cublasLtCreate");
  return handle;
}

template <class T, auto Destroy>
struct Handle {
  T value = nullptr;
  Handle() = default;
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() {
    if (value != nullptr) (blas().*Destroy)(value);
  }
};
struct Event {
  cudaEvent_t value = nullptr;
  Event() { check(cudaEventCreate(&value), "cudaEventCreate"); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  ~Event() { cudaEventDestroy(value); }
};
using Operation = Handle<cublasLtMatmulDesc_t, &Blas::cublasLtMatmulDescDestroy>;
using Layout = Handle<cublasLtMatrixLayout_t, &Blas::cublasLtMatrixLayoutDestroy>;
using Preference = Handle<cublasLtMatmulPreference_t, &Blas::cublasLtMatmulPreferenceDestroy>;

/// Column-major: `columns` columns of `rows` elements, `leading` elements apart.
void make_layout(Layout& layout, cudaDataType type, std::int64_t rows, std::int64_t columns, std::int64_t leading,
                 std::int64_t batch, bool shared = false) {
  check_blas(blas().cublasLtMatrixLayoutCreate(&layout.value, type, rows, columns, leading),
             "cublasLtMatrixLayoutCreate");
  const auto count = static_cast<std::int32_t>(batch);
  const std::int64_t stride = shared ? 0 : leading * columns;
  check_blas(
      blas().cublasLtMatrixLayoutSetAttribute(layout.value, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count, sizeof count),
      "cublasLtMatrixLayoutSetAttribute(batch)");
  check_blas(blas().cublasLtMatrixLayoutSetAttribute(layout.value, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &stride,
                                                     sizeof stride),
             "cublasLtMatrixLayoutSetAttribute(stride)");
}

/// Class of depths that share an algorithm, a quarter octave wide: clouds of changing size are not timed again.
std::int64_t depth_class(std::int64_t depth) {
  const int bits = std::max(2, static_cast<int>(std::bit_width(static_cast<std::uint64_t>(depth)))) - 1;
  return bits * 4 + ((depth >> (bits - 2)) & 3);
}

using ShapeKey = std::tuple<int, int, std::int64_t, std::int64_t, std::int64_t, std::int64_t, int>;

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
  cublasLtHandle_t handle = nullptr;  ///< null while cuBLASLt is not needed
  Operation operation;
  Layout a;
  Layout b;
  Layout c;
  cublasLtMatmulAlgo_t algorithm{};
  std::optional<MatrixProductChoice> chosen;
  bool own_kernel = false;  ///< multiplies by it, not by `algorithm`

  /// Loads cuBLASLt and describes the product to it.
  void describe() {
    if (handle != nullptr) return;
    const bool floating = shape.element != MatrixElement::int8;
    check_blas(blas().cublasLtMatmulDescCreate(&operation.value, floating ? CUBLAS_COMPUTE_32F : CUBLAS_COMPUTE_32I,
                                               floating ? CUDA_R_32F : CUDA_R_32I),
               "cublasLtMatmulDescCreate");
    const cublasOperation_t transpose = shape.across_b ? CUBLAS_OP_N : CUBLAS_OP_T;
    check_blas(blas().cublasLtMatmulDescSetAttribute(operation.value, CUBLASLT_MATMUL_DESC_TRANSA, &transpose,
                                                     sizeof transpose),
               "cublasLtMatmulDescSetAttribute");
    if (shape.element == MatrixElement::float8) {
      const std::int8_t fast = 1;
      check_blas(
          blas().cublasLtMatmulDescSetAttribute(operation.value, CUBLASLT_MATMUL_DESC_FAST_ACCUM, &fast, sizeof fast),
          "cublasLtMatmulDescSetAttribute(accumulation)");
    }
    const cudaDataType in = shape.element == MatrixElement::float8 ? CUDA_R_8F_E4M3 : floating ? CUDA_R_16F : CUDA_R_8I;
    const bool halves = shape.half_output || shape.element == MatrixElement::float8;
    const cudaDataType out = halves ? CUDA_R_16F : floating ? CUDA_R_32F : CUDA_R_32I;
    const std::int64_t leading = shape.row_elements > 0 ? shape.row_elements : shape.depth;
    make_layout(a, in, shape.depth, shape.rows, leading, shape.batch, shape.share_a);
    if (shape.across_b) {
      make_layout(b, in, shape.columns, shape.depth, shape.columns, shape.batch);
    } else {
      make_layout(b, in, shape.depth, shape.columns, leading, shape.batch);
    }
    make_layout(c, out, shape.columns, shape.rows, shape.columns, shape.batch);
    handle = find_handle(queue.device());
  }

  [[nodiscard]] bool is_small() const {
    return shape.element != MatrixElement::float8 && !shape.across_b &&
           2.0 * static_cast<double>(shape.rows) * static_cast<double>(shape.columns) *
                   static_cast<double>(shape.depth) * static_cast<double>(shape.batch) <=
               max_own_operations;
  }

  [[nodiscard]] ShapeKey key() const {
    const int form = shape.share_a + 2 * shape.half_output + 4 * shape.across_b;
    return {queue.device().index,
            static_cast<int>(shape.element),
            shape.rows,
            shape.columns,
            depth_class(shape.depth),
            shape.batch,
            form};
  }

  cublasStatus_t launch(const cublasLtMatmulAlgo_t& with, const void* pa, const void* pb, void* pc,
                        bool accumulate) const {
    const float one = 1;
    const float add = accumulate ? 1.F : 0.F;
    const std::int32_t one_int = 1;
    const std::int32_t add_int = accumulate ? 1 : 0;
    const bool floating = shape.element != MatrixElement::int8;
    // cuBLASLt is column-major: C^T (columns x rows) = B A^T, so B is its first operand.
    return blas().cublasLtMatmul(handle, operation.value, floating ? static_cast<const void*>(&one) : &one_int, pb,
                                 b.value, pa, a.value, floating ? static_cast<const void*>(&add) : &add_int, pc,
                                 c.value, pc, c.value, &with, scratch, workspace_bytes, stream_of(queue));
  }

  /// Milliseconds of one launch after a warm-up, or infinity if the algorithm does not run. Short ones are launched
  /// several times as a graph: the launch itself would count as much.
  float time(const cublasLtMatmulAlgo_t& with, const void* pa, const void* pb, void* pc) const {
    if (launch(with, pa, pb, pc, false) != CUBLAS_STATUS_SUCCESS) return INFINITY;
    const float once = time_of([&] { launch(with, pa, pb, pc, false); });
    if (once > max_short_span) return once;
    const auto graph = Graph::record(queue, [&] {
      for (int i = 0; i < short_launches; ++i) launch(with, pa, pb, pc, false);
    });
    if (graph.empty()) return once;
    graph.launch(queue);
    return time_of([&] { graph.launch(queue); }) / short_launches;
  }
  template <class Enqueue>
  float time_of(const Enqueue& enqueue) const {
    const Event start;
    const Event stop;
    check(cudaEventRecord(start.value, stream_of(queue)), "cudaEventRecord");
    enqueue();
    check(cudaEventRecord(stop.value, stream_of(queue)), "cudaEventRecord");
    check(cudaEventSynchronize(stop.value), "MatrixProduct::choose");
    float span = 0;
    check(cudaEventElapsedTime(&span, start.value, stop.value), "cudaEventElapsedTime");
    return span;
  }

  /// Times every candidate, then the fastest of them in turns: a clock that drifts with power draw affects all
  /// equally. Empty if none runs.
  [[nodiscard]] std::optional<cublasLtMatmulAlgo_t> fastest(const void* pa, const void* pb, void* pc) const {
    struct Timed {
      cublasLtMatmulAlgo_t algorithm;
      float span;
    };
    std::vector<Timed> all;
    for (const auto& candidate : candidates(candidate_count)) {
      if (const float span = time(candidate, pa, pb, pc); span < INFINITY) all.push_back({candidate, span});
    }
    if (all.empty()) return std::nullopt;
    const auto faster = [](const Timed& x, const Timed& y) { return x.span < y.span; };
    std::sort(all.begin(), all.end(), faster);
    if (all.size() > finalist_count) all.resize(finalist_count);
    for (auto& finalist : all) finalist.span = 0;
    for (int round = 0; round < final_rounds; ++round) {
      for (auto& finalist : all) finalist.span += time(finalist.algorithm, pa, pb, pc);
    }
    return std::min_element(all.begin(), all.end(), faster)->algorithm;
  }

  /// cuBLASLt's first choice; none if it has no algorithm.
  [[nodiscard]] std::optional<cublasLtMatmulAlgo_t> expected() const {
    const auto first = candidates(1);
    return first.empty() ? std::nullopt : std::optional(first.front());
  }

  [[nodiscard]] std::vector<cublasLtMatmulAlgo_t> candidates(int most) const {
    Preference preference;
    check_blas(blas().cublasLtMatmulPreferenceCreate(&preference.value), "cublasLtMatmulPreferenceCreate");
    const std::size_t bytes = workspace_bytes;
    check_blas(blas().cublasLtMatmulPreferenceSetAttribute(preference.value, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                                           &bytes, sizeof bytes),
               "cublasLtMatmulPreferenceSetAttribute");
    std::array<cublasLtMatmulHeuristicResult_t, candidate_count> results{};
    int found = 0;
    check_blas(blas().cublasLtMatmulAlgoGetHeuristic(handle, operation.value, b.value, a.value, c.value, c.value,
                                                     preference.value, most, results.data(), &found),
               "cublasLtMatmulAlgoGetHeuristic");
    std::vector<cublasLtMatmulAlgo_t> all;
    for (int i = 0; i < found; ++i) all.push_back(results[static_cast<std::size_t>(i)].algo);
    return all;
  }

  /// True if an algorithm chosen for another depth of the class supports this one.
  [[nodiscard]] bool fits(const cublasLtMatmulAlgo_t& candidate) const {
    cublasLtMatmulHeuristicResult_t result{};
    return blas().cublasLtMatmulAlgoCheck(handle, operation.value, b.value, a.value, c.value, c.value, &candidate,
                                          &result) == CUBLAS_STATUS_SUCCESS &&
           result.workspaceSize <= workspace_bytes;
  }
};

MatrixProduct::MatrixProduct(const MatrixProductShape& shape, const Queue& queue, void* scratch)
    : state_(std::make_unique<State>()) {
  State& s = *state_;
  s.shape = shape;
  s.queue = queue;
  s.scratch = scratch;
}

MatrixProduct::~MatrixProduct() = default;
MatrixProduct::MatrixProduct(MatrixProduct&&) noexcept = default;
MatrixProduct& MatrixProduct::operator=(MatrixProduct&&) noexcept = default;

void MatrixProduct::choose(MatrixProductChoice how, const void* a, const void* b, void* c) {
  State& s = *state_;
  const bool by_holotone = how == MatrixProductChoice::built_in;
  if (s.chosen && (s.chosen == how || (s.chosen == MatrixProductChoice::timed && !by_holotone))) return;
  s.own_kernel = by_holotone;
  if (by_holotone) {
    s.chosen = how;
    return;
  }
  const DeviceScope scope(s.queue.device());
  auto& known = choices();
  const std::lock_guard lock(known.mutex);
  const auto key = s.key();
  if (how == MatrixProductChoice::at_once && s.is_small() && !known.algorithm.contains(key)) {
    s.own_kernel = true;
    s.chosen = how;
    return;
  }
  s.describe();
  std::optional<cublasLtMatmulAlgo_t> best;
  s.chosen = MatrixProductChoice::timed;
  if (const auto found = known.algorithm.find(key); found != known.algorithm.end() && s.fits(found->second)) {
    best = found->second;
  } else if (how == MatrixProductChoice::timed) {
    best = s.fastest(a, b, c);
    if (best) known.algorithm[key] = *best;
  } else {
    s.chosen = how;
    best = s.expected();
  }
  if (!best) {
    s.chosen.reset();
    throw Error(ErrorCode::device, "MatrixProduct: cuBLASLt has no algorithm for " + std::to_string(s.shape.rows) +
                                       " x " + std::to_string(s.shape.columns) + " x " + std::to_string(s.shape.depth));
  }
  s.algorithm = *best;
}

void MatrixProduct::run(const void* a, const void* b, void* c, bool accumulate) const {
  const State& s = *state_;
  const DeviceScope scope(s.queue.device());
  if (s.own_kernel) {
    enqueue_matrix_product(s.shape, a, b, c, accumulate, stream_of(s.queue));
  } else {
    check_blas(s.launch(s.algorithm, a, b, c, accumulate), "cublasLtMatmul");
  }
}

const MatrixProductShape& MatrixProduct::shape() const { return state_->shape; }

}  // namespace holotone::cuda

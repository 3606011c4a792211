#include <climits>
#include <holotone/core/parallel.hpp>
#include <holotone/fft/fft_engine.hpp>
#include <holotone/fft/planner_cpu.hpp>

namespace holotone::fft {
namespace {

/// Below this many elements, starting threads costs more than they save.
constexpr std::int64_t threaded_elements = std::int64_t{1} << 17;

using Plan = FftwPlan<float>;

struct MemoryDeleter {
  void operator()(fftwf_complex* memory) const { fftwf_free(memory); }
};

fftwf_complex* as_fftw(std::complex<float>* data) { return reinterpret_cast<fftwf_complex*>(data); }

/// Plans of one direction: the whole array at once, or rows (only the selected ones) and columns separately.
struct DirectionPlans {
  Plan whole;
  Plan rows;
  Plan columns;
};

class CpuEngine final : public Engine {
 public:
  CpuEngine(Shape<2> shape, const FftOptions& options) : shape_(shape), options_(options) {
    aligned_ = make_all(options.effort, 0);
  }

  void execute(std::complex<float>* data, FftDirection direction) override {
    const bool aligned = fftwf_alignment_of(reinterpret_cast<float*>(data)) == 0;
    if (!aligned && !unaligned_) {
      unaligned_ = std::make_unique<std::array<DirectionPlans, 2>>(make_all(false, FFTW_UNALIGNED));
    }
    const auto& plans = (aligned ? aligned_ : *unaligned_)[direction == FftDirection::inverse];
    fftwf_complex* const all = as_fftw(data);
    if (plans.whole) {
      fftwf_execute_dft(plans.whole.get(), all, all);
    } else {
      fftwf_complex* const named = all + options_.first_row * shape_[1];
      if (direction == FftDirection::forward) fftwf_execute_dft(plans.rows.get(), named, named);
      fftwf_execute_dft(plans.columns.get(), all, all);
      if (direction == FftDirection::inverse) fftwf_execute_dft(plans.rows.get(), named, named);
    }
    if (direction == FftDirection::inverse && options_.scale_inverse) scale(data);
  }

  [[nodiscard]] std::size_t workspace_bytes() const override { return 0; }

 private:
  /// Plans both directions in scratch memory, because measuring overwrites the arrays.
  [[nodiscard]] std::array<DirectionPlans, 2> make_all(bool measure, unsigned alignment_flag) const {
    const std::int64_t elements = options_.batch * element_count(shape_);
    const std::lock_guard guard(planner_lock());
    plan_with_threads(elements >= threaded_elements ? thread_count() : 1);
    // FFTW_ESTIMATE reads only the address and does not touch the memory.
    const std::unique_ptr<fftwf_complex, MemoryDeleter> scratch(
        fftwf_alloc_complex(measure ? static_cast<std::size_t>(elements) : 8));
    if (!scratch) throw Error(ErrorCode::out_of_memory, "FftPlan: not enough host memory to plan " + to_string(shape_));
    const unsigned flags = (measure ? FFTW_MEASURE : FFTW_ESTIMATE) | alignment_flag;
    return {make(scratch.get(), FFTW_FORWARD, flags), make(scratch.get(), FFTW_BACKWARD, flags)};
  }

  [[nodiscard]] DirectionPlans make(fftwf_complex* memory, int sign, unsigned flags) const {
    const int ny = static_cast<int>(shape_[0]);
    const int nx = static_cast<int>(shape_[1]);
    DirectionPlans plans;
    if (options_.rows == shape_[0]) {
      if (options_.batch == 1) {
        plans.whole.reset(fftwf_plan_dft_2d(ny, nx, memory, memory, sign, flags));
      } else if (element_count(shape_) <= INT_MAX) {
        // The alignment of later arrays of a batch depends on the size of one array.
        const unsigned own = element_count(shape_) % 8 == 0 ? flags : flags | FFTW_UNALIGNED;
        const int extents[] = {ny, nx};
        plans.whole.reset(fftwf_plan_many_dft(2, extents, static_cast<int>(options_.batch), memory, nullptr, 1, ny * nx,
                                              memory, nullptr, 1, ny * nx, sign, own));
      }
    } else {
      // The row offset may break the alignment that whole-array plans assume.
      const bool keeps_alignment = options_.first_row * nx % 8 == 0;
      plans.rows.reset(fftwf_plan_many_dft(1, &nx, static_cast<int>(options_.rows), memory, nullptr, 1, nx, memory,
                                           nullptr, 1, nx, sign, flags | (keeps_alignment ? 0 : FFTW_UNALIGNED)));
      plans.columns.reset(fftwf_plan_many_dft(1, &ny, nx, memory, nullptr, nx, 1, memory, nullptr, nx, 1, sign, flags));
    }
    if (!plans.whole && (!plans.rows || !plans.columns)) {
      throw Error(ErrorCode::out_of_memory, "FftPlan: FFTW made no plan for shape " + to_string(shape_));
    }
    return plans;
  }

  void scale(std::complex<float>* data) const {
    const float factor = 1.0F / static_cast<float>(element_count(shape_));
    const std::int64_t nx = shape_[1];
    std::complex<float>* const named = data + options_.first_row * nx;
    const std::int64_t count = options_.batch * options_.rows * nx;
#pragma omp parallel for schedule(static) if (count >= threaded_elements)
    for (std::int64_t i = 0; i < count; ++i) named[i] *= factor;
  }

  Shape<2> shape_;
  FftOptions options_;
  std::array<DirectionPlans, 2> aligned_;
  std::unique_ptr<std::array<DirectionPlans, 2>> unaligned_;
};

}  // namespace

EnginePointer engine_cpu(Shape<2> shape, const FftOptions& options) {
  return std::make_unique<CpuEngine>(shape, options);
}

}  // namespace holotone::fft

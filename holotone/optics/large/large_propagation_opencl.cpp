#include <holotone/core/kernel_opencl.hpp>
#include <holotone/optics/large/large_propagation_engine.hpp>
#include <holotone/optics/transfer_opencl.hpp>

namespace holotone::large_propagation {
namespace {

using opencl::over;

constexpr auto source = "holotone/optics/large/large_propagation_opencl.cl";
constexpr opencl::Range group{64, 4, 1};

/// Structure of large_propagation_opencl.cl.
struct OpenclKept {
  cl_int head;
  cl_int tail;
  cl_int length;
};

OpenclKept in_ints(const Kept& kept) {
  return {static_cast<cl_int>(kept.head), static_cast<cl_int>(kept.tail), static_cast<cl_int>(kept.length)};
}

class OpenclEngine final : public Engine {
 public:
  OpenclEngine(const Job& job, const Queue& queue)
      : job_(job),
        transfer_(propagation::in_wavelengths(job.transfer)),
        lines_(job, queue),
        spread_(queue, source, "spread"),
        gather_(queue, source, "gather"),
        multiply_(queue, source, "multiply") {}

  void transform_rows(const Complex* from, Complex* to, std::int64_t count, FftDirection direction) override {
    const bool forward = direction == FftDirection::forward;
    const Kept& before = forward ? job_.row : job_.spectrum;
    const Kept& after = forward ? job_.spectrum : job_.row;
    spread(from, 1, kept_count(before), before, count);
    lines_.rows(direction);
    gather(to, 1, kept_count(after), after, count);
  }

  void propagate_columns(Complex* columns, std::int64_t step, std::int64_t first, std::int64_t count) override {
    const std::int64_t length = job_.column.length;
    spread(columns, step, 1, job_.column, count);
    lines_.columns(FftDirection::forward);
    multiply_(over(length / 2 + 1, count), group, lines_.values.data(), in_ints(job_.spectrum),
              static_cast<cl_int>(first), static_cast<cl_int>(count), static_cast<cl_int>(length), transfer_);
    lines_.columns(FftDirection::inverse);
    gather(columns, step, 1, job_.column, count);
  }

  [[nodiscard]] std::size_t workspace_bytes() const override { return lines_.bytes(); }

 private:
  void spread(const Complex* samples, std::int64_t step, std::int64_t apart, const Kept& kept, std::int64_t count) {
    spread_(over(kept.length, count), group, samples, static_cast<cl_long>(step), static_cast<cl_long>(apart),
            lines_.values.data(), in_ints(kept), static_cast<cl_int>(count));
  }
  void gather(Complex* samples, std::int64_t step, std::int64_t apart, const Kept& kept, std::int64_t count) {
    gather_(over(kept_count(kept), count), group, lines_.values.data(), samples, static_cast<cl_long>(step),
            static_cast<cl_long>(apart), in_ints(kept), static_cast<cl_int>(count));
  }

  Job job_;
  propagation::OpenclTransfer transfer_;
  Lines lines_;
  opencl::Kernel spread_;
  opencl::Kernel gather_;
  opencl::Kernel multiply_;
};

}  // namespace

EnginePointer engine_opencl(const Job& job, const Queue& queue) { return std::make_unique<OpenclEngine>(job, queue); }

}  // namespace holotone::large_propagation

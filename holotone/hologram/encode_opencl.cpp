#include <algorithm>
#include <fmt/format.h>
#include <holotone/core/kernel_opencl.hpp>
#include <holotone/hologram/encode_device.hpp>

namespace holotone::encoding {
namespace {

constexpr auto source = "holotone/hologram/encode_opencl.cl";
constexpr std::int64_t peak_rows = 64;  // of items of find_peak

/// GROUP and PIXELS of encode_opencl.cl.
struct Items {
  std::int64_t group, pixels;
};
constexpr Items gpu_items{128, 4};
constexpr Items cpu_items{1, 256};

/// Given of encode_opencl.cl.
struct Given {
  float levels, low, high;
  cl_int symmetric;
};

opencl::Range make_range(std::int64_t columns, std::int64_t rows) {
  return {static_cast<std::size_t>(columns), static_cast<std::size_t>(rows), 1};
}

class OpenclEngine final : public DeviceEngine {
 public:
  OpenclEngine(const Tables& tables, const Queue& queue)
      : DeviceEngine(tables, queue),
        items_(opencl::prefers_vectors(queue) ? cpu_items : gpu_items),
        codes_{kernel("uchar", code_kernel(tables)), kernel("ushort", code_kernel(tables))} {
    if (tables.measured_range) find_peak_ = kernel("uchar", "find_peak");
    if (tables.encoding == Encoding::burckhardt) remove_bins_ = kernel("uchar", "remove_bins");
  }

 private:
  static const char* code_kernel(const Tables& tables) {
    return needs_phase_modulator(tables.encoding) ? "phase_codes" : "amplitude_codes";
  }

  /// KIND of encode_opencl.cl.
  static std::string_view find_kind(Encoding encoding) {
    switch (encoding) {
      case Encoding::phase: return "PHASE";
      case Encoding::double_phase: return "DOUBLE_PHASE";
      case Encoding::amplitude:
      case Encoding::single_sideband: return "REAL_PART";
      case Encoding::burckhardt: return "CELLS";
    }
    return "";
  }

  [[nodiscard]] opencl::Kernel kernel(const char* code, const char* name) const {
    return {queue(),
            source,
            name,
            {fmt::format("-DKIND={} -DCODE={} -DGROUP={} -DPIXELS={}", find_kind(encoding()), code, items_.group,
                         items_.pixels),
             opencl::exact_division(queue())}};
  }

  [[nodiscard]] opencl::Range count_items(std::int64_t nx, std::int64_t rows) const {
    return make_range((nx + items_.pixels - 1) / items_.pixels, rows);
  }
  [[nodiscard]] opencl::Range group() const { return make_range(items_.group, 1); }

  void clear(void* data, std::size_t bytes) override { opencl::clear(data, bytes, queue()); }

  void remove_bins(Complex* spectrum, std::int64_t rows, std::int64_t nx, const RemovedBins& bins) override {
    remove_bins_(make_range(bins.count, rows), {64, 1, 1}, spectrum, static_cast<cl_int>(nx),
                 static_cast<cl_int>(bins.first), static_cast<cl_int>(bins.count));
  }

  void measure(const Parameters& p, const Complex32* field, std::uint32_t* peak) override {
    const std::int64_t rows = p.count / p.nx;
    find_peak_(count_items(p.nx, std::min(rows, peak_rows)), group(), static_cast<cl_int>(rows),
               static_cast<cl_int>(p.nx), field, p.beam_column, p.beam_row, peak);
  }

  void encode(const Parameters& p, const Complex32* field, std::uint16_t* codes) override { run(p, field, codes); }
  void encode(const Parameters& p, const Complex32* field, std::uint8_t* codes) override { run(p, field, codes); }

  template <class Code>
  void run(const Parameters& p, const Complex32* field, Code* codes) {
    const auto items = count_items(p.nx, p.count / p.nx);
    const Given given{p.levels, p.low, p.high, p.symmetric ? 1 : 0};
    const auto nx = static_cast<cl_int>(p.nx);
    auto& kernel = codes_[sizeof(Code) - 1];
    if (!needs_phase_modulator(encoding())) {
      return kernel(items, group(), given, nx, field, codes, p.beam_column, p.beam_row, p.peak);
    }
    const cl_float4 steps{{p.phase.scale, p.phase.last, p.phase.threshold, p.phase.buckets}};
    kernel(items, group(), steps, given, nx, static_cast<cl_int>(p.odd), field, codes, p.phase.boundary, p.phase.code,
           p.phase.bucket, p.shift.column, p.shift.row, p.shift.map, p.peak);
  }

  Items items_;
  opencl::Kernel codes_[2];
  opencl::Kernel find_peak_;
  opencl::Kernel remove_bins_;
};

}  // namespace

std::unique_ptr<Engine> opencl_engine(const Tables& tables, const Queue& queue) {
  return std::make_unique<OpenclEngine>(tables, queue);
}

}  // namespace holotone::encoding

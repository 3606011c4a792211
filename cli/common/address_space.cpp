#include <cli/common/address_space.hpp>
#include <cmath>
#include <cstdio>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/core/matrix_product/blas.hpp>
#include <holotone/core/units.hpp>
#include <limits>
#include <memory>
#include <omp.h>
#include <sys/resource.h>
#include <unistd.h>
#include <vector>

namespace holotone::cli {
namespace {

/// Bytes of address space used by the program and its libraries; 0 if unknown.
double mapped_bytes() {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen("/proc/self/statm", "re"), &std::fclose);
  double pages = 0;
  if (!file || std::fscanf(file.get(), "%lf", &pages) != 1) return 0;
  return pages * static_cast<double>(sysconf(_SC_PAGESIZE));
}

}  // namespace

double free_address_space() {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) {
    return std::numeric_limits<double>::infinity();
  }
  return static_cast<double>(limit.rlim_cur) - mapped_bytes();
}

void take_blas_buffers(int callers) {
  const double room = free_address_space();
  if (std::isinf(room)) return;
  const int threads = omp_get_max_threads();
  const double need = static_cast<double>(bytes_a_buffer) * (threads + callers) +
                      (callers > 1 ? static_cast<double>(bytes_a_thread) * callers : 0);
  if (room < need) {
    throw Error(ErrorCode::out_of_memory, fmt::format("memory: expected {} of address space (ulimit -v) for the matrix "
                                                      "product's {} threads, got {}",
                                                      format_bytes(need), threads, format_bytes(room)));
  }
  blas::set_threads(threads);
  // Large enough to avoid the path for small products, which needs no buffer.
  constexpr int extent = 256;
  const std::vector<float> zeros(std::size_t{extent} * extent);
  std::vector<float> result(zeros.size());
  constexpr auto plain = blas::Operand::plain;
  blas::multiply(plain, plain, extent, extent, extent, zeros.data(), extent, zeros.data(), extent, 0, result.data(),
                 extent);
}

}  // namespace holotone::cli

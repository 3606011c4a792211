// Holotone's own matrix product and cuBLASLt's against sums in float64, for shapes that do not fill their blocks.
#include <cmath>
#include <cstdlib>
#include <holotone/core/matrix_product/matrix_product_cuda.hpp>
#include <holotone/core/random.hpp>
#include <tests/support/on_each_device.hpp>
#include <type_traits>

#if HOLOTONE_CUDA
#include <cuda_fp16.h>

namespace {

using holotone::Array;
using holotone::Device;
using holotone::Queue;
using holotone::cuda::MatrixElement;
using holotone::cuda::MatrixProduct;
using holotone::cuda::MatrixProductChoice;
using holotone::cuda::MatrixProductShape;

template <class T>
T element_of(int value) {
  if constexpr (std::is_same_v<T, __half>) return __float2half(static_cast<float>(value) / 64);
  return static_cast<T>(value);
}
double to_number(__half value) { return static_cast<double>(__half2float(value)); }
double to_number(float value) { return static_cast<double>(value); }
double to_number(std::int8_t value) { return value; }
double to_number(std::int32_t value) { return value; }

template <class T>
Array<T, 1> random_elements(std::int64_t count, std::uint64_t seed) {
  Array<T, 1> values({count});
  for (std::int64_t i = 0; i < count; ++i) {
    const double uniform = holotone::random_uniform64(seed, static_cast<std::uint64_t>(i));
    values.data()[i] = element_of<T>(static_cast<int>(uniform * 200) - 100);
  }
  return values;
}

/// Largest error of C, relative to the root of the depth, after one product and one that is added.
template <class In, class Out>
double compute_error(const MatrixProductShape& shape, MatrixProductChoice how, Device device) {
  const std::int64_t pitch = shape.row_elements > 0 ? shape.row_elements : shape.depth;
  const auto a = random_elements<In>((shape.share_a ? 1 : shape.batch) * shape.rows * pitch, 1);
  const auto b = random_elements<In>(shape.batch * shape.columns * pitch, 2);
  const Queue queue(device);
  const Array<std::byte, 1> scratch({static_cast<std::int64_t>(MatrixProduct::workspace_bytes)}, queue);
  Array<Out, 1> c({shape.batch * shape.rows * shape.columns}, queue);
  const auto a_there = a.to(device);
  const auto b_there = b.to(device);
  MatrixProduct product(shape, queue, const_cast<std::byte*>(scratch.data()));
  product.choose(how, a_there.data(), b_there.data(), c.data());
  product.run(a_there.data(), b_there.data(), c.data(), false);
  product.run(a_there.data(), b_there.data(), c.data(), true);
  queue.synchronize();
  const auto result = c.to(Device{});
  double largest = 0;
  for (std::int64_t item = 0; item < shape.batch; ++item) {
    for (std::int64_t row = 0; row < shape.rows; ++row) {
      for (std::int64_t column = 0; column < shape.columns; ++column) {
        const In* const x = a.data() + (shape.share_a ? 0 : item * shape.rows * pitch) + row * pitch;
        const In* const y = b.data() + item * shape.columns * pitch + column * (shape.across_b ? 1 : pitch);
        const std::int64_t step = shape.across_b ? shape.columns : 1;
        double sum = 0;
        for (std::int64_t k = 0; k < shape.depth; ++k) sum += to_number(x[k]) * to_number(y[k * step]);
        const double got = to_number(result.data()[(item * shape.rows + row) * shape.columns + column]);
        largest = std::max(largest, std::abs(got - 2 * sum));
      }
    }
  }
  return largest / std::sqrt(static_cast<double>(shape.depth));
}

class MatrixProductTest : public support::OnEachDevice {};

constexpr MatrixProductShape shapes[] = {
    {.rows = 1, .columns = 8, .depth = 16},
    {.rows = 128, .columns = 128, .depth = 64},
    {.rows = 131, .columns = 264, .depth = 208, .batch = 3},
    {.rows = 77, .columns = 136, .depth = 48, .batch = 5, .share_a = true},
    {.rows = 200, .columns = 72, .depth = 96, .batch = 2, .row_elements = 192},
    {.rows = 130, .columns = 200, .depth = 80, .batch = 150, .share_a = true},  // more blocks than multiprocessors
    {.rows = 70, .columns = 280, .depth = 1040},
};

TEST_P(MatrixProductTest, AgreesWithSumsInFloat64) {
  on_each([](Device device) {
    for (auto shape : shapes) {
      for (const auto how : {MatrixProductChoice::at_once, MatrixProductChoice::timed, MatrixProductChoice::built_in}) {
        SCOPED_TRACE(shape.rows);
        const double floats = compute_error<__half, float>(shape, how, device);
        EXPECT_LT(floats, 2e-5);
        shape.half_output = true;
        const double halves = compute_error<__half, __half>(shape, how, device);
        EXPECT_LT(halves, 2e-2);
        shape.half_output = false;
        std::printf("%lld x %lld x %lld: %.1e of 2e-5, halves %.1e of 2e-2\n", static_cast<long long>(shape.rows),
                    static_cast<long long>(shape.columns), static_cast<long long>(shape.depth), floats, halves);
      }
    }
  });
}

TEST_P(MatrixProductTest, BMayBeStoredAcross) {
  on_each([](Device device) {
    for (auto shape : shapes) {
      if (shape.row_elements > 0) continue;
      shape.across_b = true;
      for (const auto how : {MatrixProductChoice::at_once, MatrixProductChoice::timed}) {
        EXPECT_LT((compute_error<__half, float>(shape, how, device)), 2e-5) << shape.rows;
      }
    }
  });
}

TEST_P(MatrixProductTest, IntegersAreExact) {
  on_each([](Device device) {
    for (auto shape : shapes) {
      shape.element = MatrixElement::int8;
      for (const auto how : {MatrixProductChoice::at_once, MatrixProductChoice::timed, MatrixProductChoice::built_in}) {
        EXPECT_EQ((compute_error<std::int8_t, std::int32_t>(shape, how, device)), 0) << shape.rows;
      }
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Device, MatrixProductTest, testing::Values("cuda"));

}  // namespace
#endif

// Sorts and sums by CUB.
#include <bit>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>
#include <holotone/core/cuda_check.hpp>
#include <holotone/core/sorting/sorting_cuda.hpp>
#include <type_traits>

namespace holotone::cuda {
namespace {

using Values = cub::DoubleBuffer<std::uint32_t>;

std::size_t sort(void* scratch, std::size_t bytes, Values& keys, Values& values, std::int64_t count, KeyBits bits,
                 cudaStream_t stream) {
  check(cub::DeviceRadixSort::SortPairs(scratch, bytes, keys, values, static_cast<std::uint32_t>(count), bits.first,
                                        bits.end, stream),
        "cub::DeviceRadixSort");
  return bytes;
}

std::size_t sort_into(void* scratch, std::size_t bytes, const std::uint32_t* keys, std::uint32_t* sorted_keys,
                      const std::uint32_t* values, std::uint32_t* sorted_values, std::int64_t count, KeyBits bits,
                      cudaStream_t stream) {
  check(cub::DeviceRadixSort::SortPairs(scratch, bytes, keys, sorted_keys, values, sorted_values,
                                        static_cast<std::uint32_t>(count), bits.first, bits.end, stream),
        "cub::DeviceRadixSort");
  return bytes;
}

/// Sums of 32 bits have the same bits with and without a sign: one set of kernels.
template <class Number>
std::size_t sum_before(void* scratch, std::size_t bytes, const Number* numbers, Number* sums, std::int64_t count,
                       cudaStream_t stream) {
  using Sum = std::conditional_t<sizeof(Number) == 4, std::uint32_t, std::int64_t>;
  check(cub::DeviceScan::ExclusiveSum(scratch, bytes, reinterpret_cast<const Sum*>(numbers),
                                      reinterpret_cast<Sum*>(sums), static_cast<std::uint32_t>(count), stream),
        "cub::DeviceScan");
  return bytes;
}

}  // namespace

KeyBits key_bits(std::uint64_t last) { return {0, static_cast<int>(std::bit_width(last))}; }

void sort_pairs(void* scratch, std::size_t bytes, SortedArray& keys, SortedArray& values, std::int64_t count,
                KeyBits bits, cudaStream_t stream) {
  Values both_keys(keys.current, keys.other);
  Values both_values(values.current, values.other);
  sort(scratch, bytes, both_keys, both_values, count, bits, stream);
  keys = {both_keys.Current(), both_keys.Alternate()};
  values = {both_values.Current(), both_values.Alternate()};
}

std::size_t sort_pairs_bytes(std::int64_t count, KeyBits bits) {
  Values none(nullptr, nullptr);
  return sort(nullptr, 0, none, none, count, bits, nullptr);
}

void sort_pairs_into(void* scratch, std::size_t bytes, const std::uint32_t* keys, std::uint32_t* sorted_keys,
                     const std::uint32_t* values, std::uint32_t* sorted_values, std::int64_t count, KeyBits bits,
                     cudaStream_t stream) {
  sort_into(scratch, bytes, keys, sorted_keys, values, sorted_values, count, bits, stream);
}

std::size_t sort_pairs_into_bytes(std::int64_t count, KeyBits bits) {
  return sort_into(nullptr, 0, nullptr, nullptr, nullptr, nullptr, count, bits, nullptr);
}

template <class Number>
void exclusive_sum(void* scratch, std::size_t bytes, const Number* numbers, Number* sums, std::int64_t count,
                   cudaStream_t stream) {
  sum_before(scratch, bytes, numbers, sums, count, stream);
}

template <class Number>
std::size_t exclusive_sum_bytes(std::int64_t count) {
  return sum_before<Number>(nullptr, 0, nullptr, nullptr, count, nullptr);
}

template void exclusive_sum(void*, std::size_t, const int*, int*, std::int64_t, cudaStream_t);
template void exclusive_sum(void*, std::size_t, const std::uint32_t*, std::uint32_t*, std::int64_t, cudaStream_t);
template void exclusive_sum(void*, std::size_t, const std::int64_t*, std::int64_t*, std::int64_t, cudaStream_t);
template std::size_t exclusive_sum_bytes<int>(std::int64_t);
template std::size_t exclusive_sum_bytes<std::uint32_t>(std::int64_t);
template std::size_t exclusive_sum_bytes<std::int64_t>(std::int64_t);

}  // namespace holotone::cuda

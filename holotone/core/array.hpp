#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <holotone/core/device.hpp>
#include <holotone/core/error.hpp>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

namespace holotone {

/// Extents of a row-major array, slowest first: {ny, nx}.
template <std::size_t Rank>
using Shape = std::array<std::int64_t, Rank>;

template <std::size_t Rank>
std::string to_string(const Shape<Rank>& shape) {
  std::string text = "{";
  for (std::size_t i = 0; i < Rank; ++i) text += (i ? ", " : "") + std::to_string(shape[i]);
  return text + "}";
}

template <std::size_t Rank>
constexpr std::int64_t element_count(const Shape<Rank>& shape) {
  std::int64_t count = 1;
  for (auto extent : shape) count *= extent;
  return count;
}

/// Non-owning view of a contiguous row-major array on a device. An empty view (no data) stands for an omitted argument.
template <class T, std::size_t Rank>
class View {
 public:
  View() = default;
  View(T* data, Shape<Rank> shape, Device device = {}) : data_(data), shape_(shape), device_(device) {}
  /// Converts a mutable view to a read-only one.
  template <class U>
  requires(!std::is_const_v<U> && std::is_same_v<const U, T>)
      View(const View<U, Rank>& other)  // NOLINT(google-explicit-constructor)
      : View(other.data(), other.shape(), other.device()) {}

  [[nodiscard]] T* data() const noexcept { return data_; }
  [[nodiscard]] const Shape<Rank>& shape() const noexcept { return shape_; }
  [[nodiscard]] std::int64_t size() const noexcept { return data_ ? element_count(shape_) : 0; }
  [[nodiscard]] bool empty() const noexcept { return size() == 0; }
  [[nodiscard]] Device device() const noexcept { return device_; }

  /// Returns the elements in host memory; throws invalid_argument if they are on a GPU.
  [[nodiscard]] std::span<T> host() const {
    require_device("View::host", "device", Device{}, device_);
    return {data_, static_cast<std::size_t>(size())};
  }
  /// Element access in host memory, unchecked.
  template <class... I>
  requires(sizeof...(I) == Rank) T& operator()(I... index) const {
    const Shape<Rank> at{static_cast<std::int64_t>(index)...};
    std::int64_t offset = 0;
    for (std::size_t i = 0; i < Rank; ++i) offset = offset * shape_[i] + at[i];
    return data_[offset];
  }

 private:
  T* data_ = nullptr;
  Shape<Rank> shape_{};
  Device device_{};
};

/// Returns a host view of a contiguous range.
template <class T>
View<T, 1> view_of(std::span<T> values) {
  return {values.data(), {static_cast<std::int64_t>(values.size())}};
}

/// Owning row-major array on one device. Move-only: `to(device)` is the only member that copies.
template <class T, std::size_t Rank>
class Array {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  Array() = default;
  /// Allocates uninitialised memory; allocation and release are ordered on `queue`. Throws invalid_argument for a
  /// negative extent or a size that overflows, out_of_memory if the device has too little free memory.
  explicit Array(Shape<Rank> shape, Queue queue = {}) : shape_(shape) {
    std::int64_t count = 1;
    for (auto extent : shape) {
      if (extent < 0 || __builtin_mul_overflow(count, extent, &count) ||
          count > INT64_MAX / static_cast<std::int64_t>(sizeof(T))) {
        throw_argument("Array", "shape", "extents >= 0 whose product fits in memory", to_string<Rank>(shape));
      }
    }
    buffer_ = Buffer(static_cast<std::size_t>(count) * sizeof(T), std::move(queue));
  }

  [[nodiscard]] T* data() noexcept { return static_cast<T*>(buffer_.data()); }
  [[nodiscard]] const T* data() const noexcept { return static_cast<const T*>(buffer_.data()); }
  [[nodiscard]] const Shape<Rank>& shape() const noexcept { return shape_; }
  [[nodiscard]] std::int64_t size() const noexcept { return data() ? element_count(shape_) : 0; }
  [[nodiscard]] bool empty() const noexcept { return size() == 0; }
  [[nodiscard]] Device device() const noexcept { return buffer_.queue().device(); }
  [[nodiscard]] std::size_t bytes() const noexcept { return buffer_.bytes(); }

  [[nodiscard]] View<T, Rank> view() noexcept { return {data(), shape_, device()}; }
  [[nodiscard]] View<const T, Rank> view() const noexcept { return {data(), shape_, device()}; }
  [[nodiscard]] std::span<T> host() { return view().host(); }
  [[nodiscard]] std::span<const T> host() const { return view().host(); }
  template <class... I>
  T& operator()(I... index) {
    return view()(index...);
  }
  template <class... I>
  const T& operator()(I... index) const {
    return view()(index...);
  }

  /// Returns a copy on `target`, which may be the same device. Waits for earlier work on this array's queue and for
  /// the copy.
  [[nodiscard]] Array to(Device target) const {
    buffer_.queue().synchronize();
    return copy_of(view(), target);
  }

 private:
  Shape<Rank> shape_{};
  Buffer buffer_;
};

/// Grows `buffer` to at least `count` elements, on the device of `queue`. Growth discards the contents: the old memory
/// is freed before the new is allocated.
template <class T>
void reserve(Array<T, 1>& buffer, std::int64_t count, const Queue& queue = {}) {
  if (buffer.size() >= count) return;
  buffer = Array<T, 1>();
  buffer = Array<T, 1>({count}, queue);
}

/// Enqueues on `queue` a copy between any devices. `queue` belongs to the GPU involved, if any. Throws
/// invalid_argument for unequal shapes.
template <class T, std::size_t Rank>
void copy(View<T, Rank> target, View<const std::type_identity_t<T>, Rank> source, const Queue& queue) {
  if (target.shape() != source.shape()) {
    throw_argument("copy", "source", "shape " + to_string<Rank>(target.shape()), to_string<Rank>(source.shape()));
  }
  copy_bytes(target.data(), target.device(), source.data(), source.device(),
             static_cast<std::size_t>(target.size()) * sizeof(T), queue);
}

/// Returns a copy of a view on `target`; waits for the copy.
template <class T, std::size_t Rank>
Array<std::remove_const_t<T>, Rank> copy_of(View<T, Rank> source, Device target) {
  Array<std::remove_const_t<T>, Rank> result(source.shape(), target);
  const Queue queue(target.backend == Backend::cpu ? source.device() : target);
  copy<std::remove_const_t<T>, Rank>(result.view(), source, queue);
  queue.synchronize();
  return result;
}

/// Throws invalid_argument, naming `where` and `argument`, unless the view has data, this shape and this device.
template <class T, std::size_t Rank>
void require_view(std::string_view where, std::string_view argument, const View<T, Rank>& view,
                  const std::type_identity_t<Shape<Rank>>& shape, Device device) {
  if (view.shape() != shape || view.data() == nullptr) {
    throw_argument(where, argument, "shape " + to_string<Rank>(shape), to_string<Rank>(view.shape()));
  }
  require_device(where, argument, device, view.device());
}

}  // namespace holotone

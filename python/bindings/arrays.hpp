#pragma once
// Arrays of other packages: taken in without copying, and made of the kind that came.
#include "job.hpp"
#include <complex>
#include <holotone/core/array.hpp>
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <optional>
#include <string>
#include <vector>

namespace holotone::python {

namespace nb = nanobind;

/// A value in a message: one line of at most 60 characters. Never throws for what its repr does.
std::string shown(nb::handle value);

/// Package that an array belongs to.
enum class Kind { numpy, torch, cupy, jax, holotone };

/// Type of an array's elements.
struct Element {
  nb::dlpack::dtype type;
  const char* name;  ///< as NumPy writes it

  template <class T>
  static Element of();
  static std::optional<Element> named(std::string_view name);
  [[nodiscard]] std::size_t bytes() const { return type.bits / 8U; }
  friend bool operator==(const Element& a, const Element& b) {
    return a.type.code == b.type.code && a.type.bits == b.type.bits && a.type.lanes == b.type.lanes;
  }
};

/// Array of this package on any device, for those that no other package has memory on. Python: `Array`.
struct OwnArray {
  OwnArray(std::vector<std::int64_t> shape_, Element element_, Device device);

  std::vector<std::int64_t> shape;
  Element element;
  Queue queue;
  std::shared_ptr<Array<std::byte, 1>> memory;
};

/// Memory of an array, contiguous in row-major order.
struct Memory {
  void* data = nullptr;
  std::vector<std::int64_t> shape;
  Device device;
};

/// Arrays of one call: all are of one kind on one device, or of another package in host memory.
class Call {
 public:
  explicit Call(std::string function);
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;
  ~Call();

  [[nodiscard]] const std::string& function() const { return function_; }
  /// The call's work from now on.
  void begin(bool starts = true) { job_ = std::make_shared<Job>(function_, starts); }
  /// Null before begin().
  [[nodiscard]] const std::shared_ptr<Job>& job() const { return job_; }
  /// Objects of Python that live as long as this.
  template <class... Object>
  void keep(const Object&... object) {
    (kept_.push_back(nb::borrow(object)), ...);
  }
  /// Kind of the arrays that came; without any, numpy on the CPU and own elsewhere.
  [[nodiscard]] Kind kind(Device device) const;

  /// Memory of an argument. Throws invalid_argument that names the argument unless it is an array of this type and
  /// number of axes, contiguous and, to be written, writable.
  template <class T, std::size_t Rank>
  View<T, Rank> view(nb::handle array, const std::string& argument) {
    using Value = std::remove_const_t<T>;
    const Memory memory = take(array, argument, Element::of<Value>(), Rank, !std::is_const_v<T>);
    Shape<Rank> shape;
    std::copy(memory.shape.begin(), memory.shape.end(), shape.begin());
    return {static_cast<T*>(memory.data), shape, memory.device};
  }

  /// A new array of the call's kind.
  nb::object make(const std::vector<std::int64_t>& shape, Element element, Device device);
  /// What the caller gets of an array that make() made, when it has been written.
  nb::object finished(nb::object array) const;

  /// The arrays that came.
  [[nodiscard]] const std::vector<nb::object>& held() const { return held_; }

  /// Stream of the caller's work: None, a number, or an object of PyTorch, CuPy or any other package.
  void set_stream(nb::handle stream);

  /// Queue of the caller's work on the arrays.
  [[nodiscard]] Queue caller(Device device) const;

  /// True if after() does not wait for the work.
  [[nodiscard]] bool enqueues(const Queue& queue) const { return queue.device().backend == Backend::cuda && !waits(); }

  /// Orders `queue` behind the caller's work on the arrays; after() orders the caller's further work behind it.
  void before(const Queue& queue);
  void after(const Queue& queue) const;

 private:
  /// Host memory is the caller's again when the call has ended.
  [[nodiscard]] bool waits() const { return has_host_arrays_ || kind_ == Kind::jax || made_of_ == Kind::jax; }
  Memory take(nb::handle array, const std::string& argument, const Element& element, std::size_t rank, bool writable);
  struct Range {
    const void* begin;
    std::size_t bytes;
    bool written;
  };
  /// Refuses memory that overlaps with another argument's of which one is written, unless it is all of it.
  void require_apart(const Range& range, const std::string& argument);
  [[noreturn]] void refuse(const std::string& argument, const std::string& expected, const std::string& got) const;

  std::string function_;
  std::shared_ptr<Job> job_;
  std::optional<Kind> kind_;
  Kind made_of_ = Kind::numpy;
  std::vector<nb::object> held_;  ///< arrays, until the call has returned
  std::vector<nb::object> kept_;
  std::vector<nb::ndarray<nb::ro>> imported_;
  std::vector<Range> ranges_;
  std::optional<void*> stream_;  ///< given
  std::optional<Queue> caller_;  ///< stream that work is ordered with
  bool has_host_arrays_ = false;
  std::string locale_;  ///< some drivers of OpenCL set another
};

/// Declares the class Array and what belongs to it.
void bind_arrays(nb::module_& module);

template <class T>
Element Element::of() {
  const nb::dlpack::dtype type = nb::dtype<T>();
  if constexpr (std::is_same_v<T, float>) return {type, "float32"};
  if constexpr (std::is_same_v<T, double>) return {type, "float64"};
  if constexpr (std::is_same_v<T, std::complex<float>>) return {type, "complex64"};
  if constexpr (std::is_same_v<T, std::complex<double>>) return {type, "complex128"};
  if constexpr (std::is_same_v<T, std::uint8_t>) return {type, "uint8"};
  if constexpr (std::is_same_v<T, std::uint16_t>) return {type, "uint16"};
  if constexpr (std::is_same_v<T, std::int32_t>) return {type, "int32"};
  if constexpr (std::is_same_v<T, std::uint32_t>) return {type, "uint32"};
  if constexpr (std::is_same_v<T, std::int64_t>) return {type, "int64"};
}

}  // namespace holotone::python

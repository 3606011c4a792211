#pragma once
// Functions of Python that the library calls.
#include "values.hpp"
#include <holotone/recipes/hologram_file.hpp>

namespace holotone::python {

/// An argument for Python: `object` holds a copy, which Python may keep; finish() takes over what Python has changed.
template <class P>
struct CallbackArgument {
  using Value = std::remove_cvref_t<P>;

  explicit CallbackArgument(const Value& value) {
    if constexpr (Aggregate<Value> && !std::is_copy_constructible_v<Value>) {
      object = nb::cast(value, nb::rv_policy::reference);
    } else if constexpr (Aggregate<Value>) {
      object = nb::cast(Value(value));
    } else {
      object = to_python(value);
    }
  }
  void finish() {}

  nb::object object;
};

template <class T, std::size_t Rank>
struct CallbackArgument<View<T, Rank>> {
  using Value = std::remove_const_t<T>;

  explicit CallbackArgument(const View<T, Rank>& view) : view_(view), object(nb::none()) {
    if (view.empty()) return;
    Array<Value, Rank> copy(view.shape());
    memory_ = copy.data();
    std::copy_n(view.data(), view.size(), memory_);
    object = array_of(std::move(copy));
    if constexpr (std::is_const_v<T>) object.attr("setflags")(nb::arg("write") = false);
  }
  void finish() {
    if constexpr (!std::is_const_v<T>) {
      if (memory_) std::copy_n(memory_, view_.size(), view_.data());
    }
  }

 private:
  View<T, Rank> view_;
  Value* memory_ = nullptr;

 public:
  nb::object object;
};

/// The file's metadata in a dictionary, which may be changed.
template <>
struct CallbackArgument<const StatedHologram&> {
  explicit CallbackArgument(const StatedHologram& value)
      : value_(value),
        object(nb::module_::import_("types").attr("SimpleNamespace")(
            nb::arg("path") = value.path, nb::arg("metadata") = to_python(Metadata(value.metadata)),
            nb::arg("shape") = to_python(Shape<2>(value.shape)), nb::arg("is_field") = value.is_field,
            nb::arg("pixel_bits") = value.pixel_bits)) {}
  void finish() {
    Call call("read_hologram");
    value_.metadata = from_python<Metadata>(nb::object(object.attr("metadata")), call, "metadata");
  }

 private:
  const StatedHologram& value_;

 public:
  nb::object object;
};

/// Copies an array that a function returns instead of writing it into `target`.
void take_returned(nb::handle returned, nb::handle target);

template <class P>
inline constexpr bool is_written = false;
template <class T, std::size_t Rank>
inline constexpr bool is_written<View<T, Rank>> = !std::is_const_v<T>;

/// Calls `function` of Python in the thread that runs the job. Its exceptions are those of the job.
template <class R, class... P>
std::function<R(P...)> function_from(nb::handle function, const std::shared_ptr<Job>& job,
                                     const std::function<R(P...)>* /*type*/) {
  // The last copy may end in a thread without the lock.
  const std::shared_ptr<nb::object> kept(new nb::object(nb::borrow(function)), [](nb::object* one) {
    const nb::gil_scoped_acquire lock;
    delete one;
  });
  if (job) job->calls_python();
  return [kept, job](P... values) -> R {
    [[maybe_unused]] std::conditional_t<std::is_void_v<R>, bool, R> value{};
    Job::ask(job, [&] {
      std::tuple<CallbackArgument<P>...> arguments{CallbackArgument<P>(values)...};
      nb::object result = std::apply([&](auto&... one) { return (*kept)(one.object...); }, arguments);
      const auto finish = [&]<class Q>(CallbackArgument<Q>& one) {
        if constexpr (is_written<Q>) take_returned(result, one.object);
        one.finish();
      };
      std::apply([&](auto&... one) { (finish(one), ...); }, arguments);
      if constexpr (!std::is_void_v<R>) {
        if (!nb::try_cast(result, value)) {
          throw_argument("", "what the function returns", type_text<R>(), shown(result));
        }
      }
    });
    if constexpr (!std::is_void_v<R>) return value;
  };
}

}  // namespace holotone::python

#pragma once
// Arguments of Python for the parameters of C++: one conversion for each kind of parameter.
//
// A parameter of C++ becomes
//   options and the like: an argument for each member, by keyword only;      View of const: an array, not copied
//   View to be written: `out`, or an array made of the kind that came;       Queue, Device: `device` and `stream`
//   Progress&: `progress`;                                                   the rest: a value
#include "members.hpp"
#include "progress.hpp"
#include "turn.hpp"
#include <holotone/optics/field.hpp>
#include <holotone/optics/row_range.hpp>
#include <tuple>

namespace holotone::python {

/// Argument of Python, as signatures show it.
struct Parameter {
  std::string name;
  std::string type;
  nb::object fallback;  ///< null: required
  bool keyword_only = false;
  std::string comment;
  bool may_be_field = false;  ///< a Field, which has shape, pitch and wavelength
};

/// Arguments of a function, in order.
struct Signature {
  std::vector<Parameter> parameters;

  void add(std::string name, std::string type, nb::object fallback, bool keyword_only, std::string comment = {},
           bool may_be_field = false);
  /// `def name(arguments) -> result`, with overloads before it for each kind of array if the result is an ArrayOf, and
  /// for the CPU if `device` decides its kind (on_device). alone: the function has no overloads of its own.
  [[nodiscard]] std::string text(std::string_view name, bool method, const std::string& result,
                                 bool alone = true) const;
  [[nodiscard]] std::string comments() const;
  [[nodiscard]] bool has(std::string_view name) const;

 private:
  /// Another type for an argument in one line of the text; without its default if the line needs it.
  struct Retyped {
    const Parameter* parameter = nullptr;
    std::string type;
    bool required = false;
  };
  [[nodiscard]] std::string line(std::string_view name, bool method, const std::string& result,
                                 const std::vector<Retyped>& retyped = {}) const;
  /// The line for arrays of one kind, "NDArray" or "OtherArray", by which the result's is known.
  [[nodiscard]] std::string make_line(const std::string& kind, std::string_view name, bool method,
                                      const std::string& result) const;
};

/// The type of an array that stays in the library's memory unless that is the CPU's: "NDArray[float32] | Array".
std::string on_device(const std::string& numpy_type);

/// Values given for the arguments of one call.
class Given {
 public:
  /// Throws nb::next_overload, or for the last overload nb::type_error, if names and numbers of arguments do not fit.
  Given(const Signature& signature, const std::string& function, const nb::args& args, const nb::kwargs& kwargs,
        bool last);
  /// Takes the next argument: its value or its default.
  nb::handle next() { return values_[index_++]; }
  [[nodiscard]] const std::string& name() const { return signature_.parameters[index_ - 1].name; }
  /// Value of any argument, for the shape of an output.
  [[nodiscard]] nb::handle operator[](std::string_view name) const;
  /// Shape of the array given for an argument.
  template <std::size_t Rank>
  [[nodiscard]] Shape<Rank> shape(std::string_view name) const {
    const nb::handle array = (*this)[name];
    Shape<Rank> shape;
    if (!nb::hasattr(array, "shape") || !nb::try_cast(array.attr("shape"), shape)) {
      throw_argument(function_, name, fmt::format("an array with a shape of {} axes", Rank), shown(array));
    }
    return shape;
  }
  /// Number given for an argument, or its default; 0 without such an argument.
  [[nodiscard]] double number(std::string_view name) const;
  /// Throws invalid_argument for a Field with another pitch or wavelength than a plan's.
  void require_grid(const std::string& function, bool last, double pitch_m, double wavelength_m) const;

 private:
  nb::handle from_field(const std::string& name);

  const Signature& signature_;
  std::string function_;
  std::vector<nb::handle> values_;
  std::vector<nb::object> kept_;  ///< grid of a Field among the arguments
  std::size_t index_ = 0;
};

/// What the methods of an object of the library share: one thread at a time uses it.
struct BoundState {
  Queue queue;
  double pitch_m = 0;  ///< of the plan's panel; 0: it has none
  double wavelength_m = 0;
  std::int64_t all_rows = 0;  ///< of the plan's panel
  nb::dict kept{};            ///< arrays of methods that read them later, by method
  Turn turn{};
};

/// A class of the library in Python.
template <class Plan>
struct Bound : BoundState {
  std::unique_ptr<Plan> plan;
};

/// Classes that Bound holds. The generator specialises it.
template <class T>
inline constexpr bool is_plan = false;

struct Context {
  Call& call;
  Given& given;
  const void* self = nullptr;
  std::optional<Queue> queue{};  ///< of the plan, or of the arguments
  struct Output {
    nb::object array;
    bool made = false;
  };
  std::vector<Output> outputs{};  ///< in order
  std::vector<Turn*> turns{};     ///< of plans among the arguments
  std::int64_t all_rows = 0;      ///< of the plan's panel
  bool looks = false;             ///< a method that is const in C++
};

/// A parameter of C++: its name in the headers, and its default.
struct Name {
  const char* text;
  nb::object fallback{};
  void (*shape)() = nullptr;  ///< of an output (out())
  bool alone = true;          ///< the only output, "out" in Python
  bool on_host = false;       ///< an output of the host's memory, whatever the plan's device
};

template <std::size_t Rank>
using ShapeOf = Shape<Rank> (*)(const void* self, const Given& given);

/// A View that is written and may be omitted: its shape by the plan and the other arguments.
template <std::size_t Rank>
Name out(const char* text, ShapeOf<Rank> shape, bool alone, bool on_host = false) {
  return {text, {}, reinterpret_cast<void (*)()>(shape), alone, on_host};
}

/// A kind of parameter: describe() gives its arguments in Python, the constructor takes them, get() passes it on.
template <class P>
class Argument;

/// A panel's grid, whose members are arguments of their own.
void describe_grid(Signature& signature);
FieldGrid take_grid(Context& context);
/// Rows of a part; by default all from the first on.
void describe_rows(Signature& signature);
RowRange take_rows(Context& context);
/// An argument for each member of an aggregate.
void describe_members(Signature& signature, const AggregateType& type);
void take_members(void* object, const AggregateType& type, Context& context);
template <class T>
T take_members(Context& context) {
  T result{};
  take_members(&result, aggregate_type<T>(), context);
  return result;
}

template <class T>
constexpr bool is_flat() {
  if constexpr (Aggregate<T>) return Members<T>::flat;
  return false;
}

/// A value.
template <class P>
class Argument {
  using T = std::remove_cvref_t<P>;

  template <class U>
  struct Stored {
    using type = U;
  };
  template <class U>
  struct Stored<std::span<U>> {
    using type = std::vector<std::remove_const_t<U>>;
  };

 public:
  static void describe(Signature& signature, const Name& name) {
    if constexpr (std::is_same_v<T, FieldGrid>) {
      describe_grid(signature);
    } else if constexpr (std::is_same_v<T, RowRange>) {
      describe_rows(signature);
    } else if constexpr (is_flat<T>()) {
      describe_members(signature, aggregate_type<T>());
    } else {
      const bool keyword_only = name.fallback.is_valid();
      std::string comment;
      if constexpr (Named<T>) comment = names_and_comments<T>("");
      signature.add(name.text, type_text<T>(), name.fallback, keyword_only, comment);
    }
  }
  Argument(Context& context, const Name& /*name*/) {
    if constexpr (std::is_same_v<T, FieldGrid>) {
      value_ = take_grid(context);
    } else if constexpr (std::is_same_v<T, RowRange>) {
      value_ = take_rows(context);
    } else if constexpr (is_flat<T>()) {
      value_ = take_members<T>(context);
    } else {
      const nb::handle value = context.given.next();
      value_ = from_python<Value>(value, context.call, context.given.name());
    }
  }
  P get() {
    if constexpr (std::is_reference_v<P> || std::is_same_v<T, std::string_view> || is_span<T>) {
      return value_;
    } else {
      return std::move(value_);
    }
  }

 private:
  using Value = std::conditional_t<std::is_same_v<T, std::string_view>, std::string, typename Stored<T>::type>;
  Value value_{};
};

/// Rows of a part of a panel.
std::int64_t count_rows(const Given& given, std::int64_t all);

/// Shape {views, rows, columns, channels} of rendered views.
Shape<4> images_of(nb::handle views, std::int64_t channels);

/// An object that lives in Python: looked at, or changed in place.
template <class T>
class ObjectArgument {
 public:
  static void describe(Signature& signature, const Name& name) {
    signature.add(name.text, type_text<T>(), name.fallback, name.fallback.is_valid());
  }
  ObjectArgument(Context& context, const Name& /*name*/) {
    const nb::handle value = context.given.next();
    if (!value.is_none() && !nb::try_cast(value, value_)) refuse<T>(context.call, context.given.name(), value);
  }
  T* pointer() { return value_; }

 private:
  T* value_ = nullptr;
};
template <class T>
requires(Aggregate<T> && !is_flat<T>()) class Argument<T&> : public ObjectArgument<T> {
 public:
  using ObjectArgument<T>::ObjectArgument;
  T& get() { return *this->pointer(); }
};
/// A copy of an object and of the arrays that it lists.
template <class T>
requires(Members<T>::lists_arrays) T copied(const T& object) {
  T copy;
  Members<T>::each([&]<class M, class C>(const char*, M C::*member, bool) {
    if constexpr (is_array_list<M>) {
      for (const auto& array : object.*member) (copy.*member).push_back(array.to(array.device()));
    } else {
      copy.*member = object.*member;
    }
  });
  return copy;
}

/// Looked at: a copy, as another thread or a callback may change the object during the call.
template <class T>
requires(Aggregate<T> && !is_flat<T>()) class Argument<const T&> : public ObjectArgument<T> {
 public:
  Argument(Context& context, const Name& name) : ObjectArgument<T>(context, name) {
    const T* const given = this->pointer();
    if constexpr (std::is_same_v<T, SlicedPicture> || Members<T>::lists_arrays) {
      if (given) copy_ = std::make_unique<T>(copied(*given));
    } else if constexpr (std::is_copy_constructible_v<T>) {
      if (given) copy_ = std::make_unique<T>(*given);
    }
    if constexpr (std::is_default_constructible_v<T>) {
      if (!given) copy_ = std::make_unique<T>();
    }
  }
  const T& get() { return copy_ ? *copy_ : *this->pointer(); }

 private:
  std::unique_ptr<T> copy_;
};
template <class T>
requires(Aggregate<T>) class Argument<const T*> : public ObjectArgument<T> {
 public:
  using ObjectArgument<T>::ObjectArgument;
  const T* get() { return this->pointer(); }
};

/// An array that is read.
template <class T, std::size_t Rank>
class Argument<View<const T, Rank>> {
 public:
  static void describe(Signature& signature, const Name& name) {
    signature.add(name.text, type_text<View<const T, Rank>>(), name.fallback, false, {}, is_field<View<const T, Rank>>);
  }
  Argument(Context& context, const Name& /*name*/) {
    const nb::handle value = context.given.next();
    value_ = from_python<View<const T, Rank>>(value, context.call, context.given.name());
  }
  View<const T, Rank> get() { return value_; }

 private:
  View<const T, Rank> value_;
};

/// An array that is written: changed in place, or an output that is made if it is omitted.
template <class T, std::size_t Rank>
requires(!std::is_const_v<T>) class Argument<View<T, Rank>> {
 public:
  static void describe(Signature& signature, const Name& name) {
    if (name.shape) {
      signature.add(name.alone ? "out" : name.text, type_text<View<T, Rank>>() + " | None", nb::none(), true,
                    "array for the result; by default a new one");
    } else {
      signature.add(name.text, type_text<View<T, Rank>>(), name.fallback, false);
    }
  }
  Argument(Context& context, const Name& name) {
    const nb::handle value = context.given.next();
    if (name.shape) {
      const Device device = context.queue && !name.on_host ? context.queue->device() : Device{};
      const auto shape = reinterpret_cast<ShapeOf<Rank>>(name.shape)(context.self, context.given);
      value_ = take_output(context, value, shape, device);
    } else if (!value.is_none()) {
      value_ = context.call.view<T, Rank>(value, context.given.name());
    }
  }
  View<T, Rank> get() { return value_; }

 private:
  static View<T, Rank> take_output(Context& context, nb::handle value, const Shape<Rank>& shape, Device device) {
    const std::string name = context.given.name();
    nb::object array = nb::borrow(value);
    if (value.is_none()) {
      array = context.call.make({shape.begin(), shape.end()}, Element::of<T>(), device);
    }
    const auto view = context.call.view<T, Rank>(array, name);
    if (view.shape() != shape) {
      throw_argument(context.call.function(), name, "shape " + to_string<Rank>(shape), to_string<Rank>(view.shape()));
    }
    context.outputs.push_back({std::move(array), value.is_none()});
    return view;
  }

  View<T, Rank> value_;
};

template <>
class Argument<Progress&> {
 public:
  static void describe(Signature& signature, const Name& /*name*/) {
    signature.add("progress", "bool | Callable[[str, int, int], object] | None", nb::none(), true,
                  "True draws a bar; a function (stage, done, total) may return False to cancel");
  }
  Argument(Context& context, const Name& /*name*/)
      : progress_(std::make_unique<PythonProgress>(context.given.next(), context.call.function(), context.call.job())) {
  }
  Progress& get() { return *progress_; }

 private:
  std::unique_ptr<PythonProgress> progress_;
};

/// A device, or a queue on it.
template <class P>
class QueueArgument {
  static constexpr bool is_queue = !std::is_same_v<P, Device>;

 public:
  static void describe(Signature& signature, const Name& /*name*/) {
    signature.add("device", "str", nb::cast("cpu"), true, R"("cpu", "cuda:0", "opencl:0" or "auto")");
    if constexpr (is_queue) signature.add("stream", "Any", nb::none(), true, "stream of the caller's work");
  }
  QueueArgument(Context& context, const Name& /*name*/) {
    device_ = from_python<Device>(context.given.next(), context.call, "device");
    if constexpr (is_queue) context.call.set_stream(context.given.next());
    queue_ = is_queue ? Queue::create(device_) : Queue(device_);
    context.queue = queue_;
  }
  P get() {
    if constexpr (is_queue) {
      return queue_;
    } else {
      return device_;
    }
  }

 private:
  Device device_;
  Queue queue_;
};
template <>
class Argument<Queue> : public QueueArgument<Queue> {
  using QueueArgument::QueueArgument;
};
template <>
class Argument<const Queue&> : public QueueArgument<const Queue&> {
  using QueueArgument::QueueArgument;
};
template <>
class Argument<Device> : public QueueArgument<Device> {
  using QueueArgument::QueueArgument;
};

/// A plan as an argument.
template <class P>
requires(is_plan<std::remove_cvref_t<P>>) class Argument<P> {
  using Plan = std::remove_cvref_t<P>;

 public:
  static void describe(Signature& signature, const Name& name) {
    signature.add(name.text, Names<Bound<Plan>>::type, {}, false);
  }
  Argument(Context& context, const Name& name) {
    const nb::handle value = context.given.next();
    if (!nb::try_cast(value, bound_) || !bound_) {
      throw_argument(context.call.function(), name.text, Names<Bound<Plan>>::type, shown(value));
    }
    context.queue = bound_->queue;
    context.call.keep(value);
    context.turns.push_back(&bound_->turn);
  }
  P get() { return *bound_->plan; }

 private:
  Bound<Plan>* bound_ = nullptr;
};

}  // namespace holotone::python

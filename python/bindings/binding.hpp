#pragma once
// Functions and classes of the library as Python's: arguments by the names of the headers, one conversion for each kind
// of C++ parameter.
//
// A parameter of C++ becomes
//   options and the like: an argument for each member, by keyword only;      View of const: an array, not copied
//   View to be written: `out`, or an array made of the kind that came;       Queue, Device: `device` and `stream`
//   Progress&: `progress`;                                                   the rest: a value
#include "progress.hpp"
#include "values.hpp"
#include <atomic>
#include <deque>
#include <holotone/optics/field.hpp>
#include <holotone/optics/row_range.hpp>
#include <mutex>
#include <thread>
#include <tuple>

namespace holotone::python {

/// Argument of Python, as signatures show it.
struct Parameter {
  std::string name;
  std::string type;
  nb::object fallback;  ///< null: required
  bool keyword_only = false;
  std::string comment;
};

/// Arguments of a function, in order.
struct Signature {
  std::vector<Parameter> parameters;

  void add(std::string name, std::string type, nb::object fallback, bool keyword_only, std::string comment = {});
  [[nodiscard]] std::string text(std::string_view name, bool method, const std::string& result) const;
  [[nodiscard]] std::string comments() const;
};

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

 private:
  const Signature& signature_;
  std::vector<nb::handle> values_;
  std::size_t index_ = 0;
};

/// One thread at a time: others wait. A callback may use a plan that a function works with, and look at one that is
/// itself at work.
class Turn {
 public:
  enum class By { own_method, function };

  /// Without the interpreter's lock. Throws invalid_argument for a callback of a method, unless it only looks.
  void take(By by, const std::string& function, bool looks) {
    if (owner_ != std::this_thread::get_id()) {
      mutex_.lock();
      owner_ = std::this_thread::get_id();
      by_ = by;
    } else if (by_ == By::own_method && !looks) {
      throw_argument(function, "self", "an object that is not at work", "one whose method calls this function");
    }
    ++depth_;
  }
  void give() {
    if (--depth_ > 0) return;
    owner_ = std::thread::id();
    mutex_.unlock();
  }

 private:
  std::mutex mutex_;
  std::atomic<std::thread::id> owner_{};
  By by_ = By::own_method;
  int depth_ = 0;
};

/// Takes the turn for a scope.
class TurnScope {
 public:
  TurnScope(Turn& turn, Turn::By by, const std::string& function, bool looks = false) : turn_(turn) {
    turn.take(by, function, looks);
  }
  TurnScope(const TurnScope&) = delete;
  TurnScope& operator=(const TurnScope&) = delete;
  ~TurnScope() { turn_.give(); }

 private:
  Turn& turn_;
};

/// A class of the library in Python, and what its methods share: one thread at a time uses it.
template <class Plan>
struct Bound {
  std::unique_ptr<Plan> plan;
  Queue queue;
  nb::dict kept;  ///< arrays of methods that read them later, by method
  Turn turn{};
};

/// Classes that Bound holds. The generator specialises it.
template <class T>
inline constexpr bool is_plan = false;

struct Context {
  Call& call;
  Given& given;
  const void* self = nullptr;
  std::optional<Queue> queue{};       ///< of the plan, or of the arguments
  std::vector<nb::object> results{};  ///< outputs, in order
  std::vector<Turn*> turns{};         ///< of plans among the arguments
  std::int64_t all_rows = 0;          ///< of the plan's panel
  bool looks = false;                 ///< a method that is const in C++
};

/// A parameter of C++: its name in the headers, and its default.
struct Name {
  const char* text;
  nb::object fallback{};
};

/// A View that is written and may be omitted: its shape by the plan and the other arguments.
template <std::size_t Rank>
struct Out {
  const char* text;
  Shape<Rank> (*shape)(const void* self, const Given& given);
  bool alone = true;  ///< the only output, "out" in Python
};

/// Shape of an array of any package.
template <std::size_t Rank>
Shape<Rank> shape_like(nb::handle array) {
  Shape<Rank> shape;
  if (!nb::hasattr(array, "shape") || !nb::try_cast(array.attr("shape"), shape)) {
    throw_argument("shape", "array", fmt::format("an array of {} axes", Rank), nb::cast<std::string>(nb::repr(array)));
  }
  return shape;
}

/// A kind of parameter: describe() gives its arguments in Python, the constructor takes them, get() passes it on.
template <class P>
class Argument;

template <class T>
void describe_members(Signature& signature) {
  if constexpr (std::is_same_v<T, FieldGrid>) {
    signature.add("shape", "tuple[int, int]", {}, true, "(ny, nx): rows and columns");
    signature.add("pitch_m", "float", {}, true, "> 0");
    signature.add("wavelength_m", "float", {}, true, "> 0");
  } else if constexpr (std::is_same_v<T, RowRange>) {
    signature.add("first_row", "int", nb::cast(0), true, "of the part, from the top");
    signature.add("rows", "int | None", nb::none(), true, "of the part; by default all from first_row on");
  } else {
    const T defaults{};
    Members<T>::each([&]<class M, class C>(const char* name, M C::*member, bool has_default) {
      if constexpr (std::is_same_v<M, FieldGrid>) {
        describe_members<M>(signature);
        return;
      }
      nb::object fallback;
      if constexpr (std::is_copy_constructible_v<M>) {
        if (has_default) fallback = to_python(M(defaults.*member));
      }
      const std::string comment(documentation(std::string(Members<T>::name) + "::" + name));
      signature.add(name, type_text<M>(), std::move(fallback), !is_view<M>, comment);
    });
  }
}

template <class T>
T members_from(Context& context) {
  T result{};
  if constexpr (std::is_same_v<T, FieldGrid>) {
    const auto shape = from_python<Shape<2>>(context.given.next(), context.call, "shape");
    result.ny = shape[0];
    result.nx = shape[1];
    result.pitch_m = from_python<double>(context.given.next(), context.call, "pitch_m");
    result.wavelength_m = from_python<double>(context.given.next(), context.call, "wavelength_m");
  } else if constexpr (std::is_same_v<T, RowRange>) {
    result.first_row = from_python<std::int64_t>(context.given.next(), context.call, "first_row");
    const nb::handle rows = context.given.next();
    result.rows =
        rows.is_none() ? context.all_rows - result.first_row : from_python<std::int64_t>(rows, context.call, "rows");
  } else {
    Members<T>::each([&]<class M, class C>(const char* name, M C::*member, bool) {
      if constexpr (std::is_same_v<M, FieldGrid>) {
        result.*member = members_from<M>(context);
        return;
      }
      result.*member = from_python<M>(context.given.next(), context.call, name);
    });
  }
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
    if constexpr (is_flat<T>()) {
      describe_members<T>(signature);
    } else {
      const bool keyword_only = name.fallback.is_valid();
      signature.add(name.text, type_text<T>(), name.fallback, keyword_only);
    }
  }
  Argument(Context& context, const Name& /*name*/) {
    if constexpr (is_flat<T>()) {
      value_ = members_from<T>(context);
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
std::int64_t rows_of(const Given& given, std::int64_t all);

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
template <class T>
requires(Aggregate<T> && !is_flat<T>()) class Argument<const T&> : public ObjectArgument<T> {
 public:
  using ObjectArgument<T>::ObjectArgument;
  const T& get() {
    if (this->pointer()) return *this->pointer();
    if constexpr (std::is_default_constructible_v<T>) {
      if (!fallback_) fallback_ = std::make_unique<T>();
    }
    return *fallback_;
  }

 private:
  std::unique_ptr<T> fallback_;
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
    signature.add(name.text, "ArrayLike", name.fallback, false);
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
    signature.add(name.text, "ArrayLike", name.fallback, false);
  }
  static void describe(Signature& signature, const Out<Rank>& out) {
    signature.add(out.alone ? "out" : out.text, "ArrayLike | None", nb::none(), true,
                  "array for the result; by default a new one");
  }
  Argument(Context& context, const Name& /*name*/) {
    const nb::handle value = context.given.next();
    if (!value.is_none()) value_ = context.call.view<T, Rank>(value, context.given.name());
  }
  Argument(Context& context, const Out<Rank>& out) {
    const nb::handle value = context.given.next();
    const std::string name = context.given.name();
    nb::object array = nb::borrow(value);
    const Shape<Rank> shape = out.shape(context.self, context.given);
    if (value.is_none()) {
      array = context.call.make({shape.begin(), shape.end()}, Element::of<T>(),
                                context.queue ? context.queue->device() : Device{});
    }
    value_ = context.call.view<T, Rank>(array, name);
    if (value_.shape() != shape) {
      throw_argument(context.call.function(), name, "shape " + to_string<Rank>(shape), to_string<Rank>(value_.shape()));
    }
    context.results.push_back(value.is_none() ? context.call.finished(std::move(array)) : std::move(array));
  }
  View<T, Rank> get() { return value_; }

 private:
  View<T, Rank> value_;
};

template <>
class Argument<Progress&> {
 public:
  static void describe(Signature& signature, const Name& /*name*/) {
    signature.add("progress", "bool | Callable | None", nb::none(), true,
                  "True draws a bar; a function (stage, done, total) may return False to cancel");
  }
  Argument(Context& context, const Name& /*name*/)
      : progress_(std::make_unique<PythonProgress>(context.given.next())) {}
  Progress& get() { return *progress_; }
  void rethrow() const { progress_->rethrow(); }

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
    if (!nb::try_cast(value, bound_)) {
      throw_argument(context.call.function(), name.text, Names<Bound<Plan>>::type,
                     nb::cast<std::string>(nb::repr(value)));
    }
    context.queue = bound_->queue;
    context.turns.push_back(&bound_->turn);
  }
  P get() { return *bound_->plan; }

 private:
  Bound<Plan>* bound_ = nullptr;
};

/// What all calls of one function share.
struct Function {
  std::string name;  ///< "PropagationPlan.execute"
  Signature signature{};
  bool last = true;         ///< no other overload follows
  bool works = false;       ///< with threads: not for forked children
  bool has_stream = false;  ///< `stream` comes after the arguments of the parameters
};

/// Throws unsupported in a child that was forked after the library was used: its threads are not there.
void require_own_process(const std::string& function);

/// What overloads had against the arguments, while others are tried.
struct Refusals {
  std::optional<Error> value;  ///< of the first that fitted by names
  std::string missing;         ///< TypeError of the first that lacked an argument
};
Refusals& refusals();
/// Tries the next overload; for the last one throws what the first had against the arguments.
[[noreturn]] void refuse_overload(const Function& function, const Error& error);

/// Calls body(argument...) of a function's parameters, without the interpreter's lock and behind the caller's stream.
/// Returns its result and the outputs.
template <class... P, class... D, class Body>
nb::object invoke(const Function& function, Context& context, Turn* turn, const std::tuple<D...>& parameters,
                  const Body& body) {
  using Arguments = std::tuple<Argument<P>...>;
  if (function.works) require_own_process(function.name);
  std::unique_ptr<Arguments> arguments;
  try {
    std::apply([&](const D&... parameter) { arguments.reset(new Arguments{Argument<P>(context, parameter)...}); },
               parameters);
  } catch (const Error& error) {
    refuse_overload(function, error);
  }
  refusals() = {};
  if (function.has_stream) context.call.set_stream(context.given.next());
  const Queue queue = context.queue.value_or(Queue());
  const auto rethrow = [&] {
    std::apply(
        [](auto&... argument) {
          const auto one = [](auto& any) {
            if constexpr (std::is_same_v<std::remove_cvref_t<decltype(any)>, Argument<Progress&>>) any.rethrow();
          };
          (one(argument), ...);
        },
        *arguments);
  };
  context.call.before(queue);
  using Result = decltype(std::apply([&](auto&... argument) { return body(argument.get()...); }, *arguments));
  const auto run = [&]() -> Result {
    const nb::gil_scoped_release release;
    std::optional<TurnScope> own;
    if (turn) own.emplace(*turn, Turn::By::own_method, function.name, context.looks);
    std::deque<TurnScope> others;
    for (Turn* const one : context.turns) others.emplace_back(*one, Turn::By::function, function.name);
    return std::apply([&](auto&... argument) -> Result { return body(argument.get()...); }, *arguments);
  };
  nb::list results;
  try {
    if constexpr (std::is_void_v<Result>) {
      run();
    } else {
      results.append(to_python(run()));
    }
  } catch (const Error& error) {
    if (error.code() == ErrorCode::cancelled) rethrow();
    throw;
  }
  context.call.after(queue);
  for (nb::object& one : context.results) results.append(std::move(one));
  if (nb::len(results) == 0) return nb::none();
  if (nb::len(results) == 1) return results[0];
  return nb::tuple(results);
}

/// Documentation of a declaration, and the comments on its arguments.
std::string documentation_of(std::string_view declaration, const Signature& signature);

template <class P>
inline constexpr bool takes_array = is_view<std::remove_cvref_t<P>>;

template <class... P, class... D>
Function function_of(std::string name, bool last, bool may_have_stream, const std::tuple<D...>& parameters) {
  Function function{std::move(name)};
  function.last = last;
  try {
    std::apply([&](const D&... parameter) { (Argument<P>::describe(function.signature, parameter), ...); }, parameters);
  } catch (const std::logic_error& error) {
    throw std::logic_error(function.name + ": " + error.what());
  }
  const bool has_queue = (std::is_base_of_v<QueueArgument<P>, Argument<P>> || ...);
  function.works = !may_have_stream || has_queue || ((takes_array<P> || std::is_same_v<P, Progress&>) || ... || false);
  function.has_stream = may_have_stream && !has_queue && (takes_array<P> || ... || false);
  if (function.has_stream) function.signature.add("stream", "Any", nb::none(), true, "stream of the caller's work");
  return function;
}

/// Text that lives as long as the module.
const char* kept_text(std::string text);

template <class R, class... D>
std::string result_text(const std::tuple<D...>& parameters) {
  std::size_t outputs = std::is_void_v<R> ? 0 : 1;
  const auto count = [&]<class T>(const T&) {
    if constexpr (!std::is_same_v<T, Name>) ++outputs;
  };
  std::apply([&](const D&... parameter) { (count(parameter), ...); }, parameters);
  if (outputs == 0) return "None";
  if (outputs > 1) return "tuple";
  return std::is_void_v<R> ? "ArrayLike" : type_text<std::remove_cvref_t<R>>();
}

template <class R, class... P, class... D>
void function(nb::module_& module, const char* name, const char* documented, bool last, R (*pointer)(P...),
              D... parameters) {
  const std::tuple<D...> all{parameters...};
  const auto own = std::make_shared<const Function>(function_of<P...>(name, last, true, all));
  module.def(
      name,
      [own, all, pointer](const nb::args& args, const nb::kwargs& kwargs) {
        Call call(own->name);
        Given given(own->signature, own->name, args, kwargs, own->last);
        Context context{call, given};
        return invoke<P...>(*own, context, nullptr, all, pointer);
      },
      nb::sig(kept_text(own->signature.text(name, false, result_text<R>(all)))),
      kept_text(documentation_of(documented, own->signature)));
}

template <class Pointer>
inline constexpr bool is_const = false;
template <class R, class C, class... P>
inline constexpr bool is_const<R (C::*)(P...) const> = true;

/// keeps: the plan reads the arrays after the call.
template <class Plan, class R, class F, class... P, class... D>
void method_of(nb::class_<Bound<Plan>>& bound, const char* name, const char* documented, bool last, bool keeps,
               F pointer, const std::tuple<D...>& all) {
  const std::string full = std::string(Names<Bound<Plan>>::type) + "." + name;
  const auto own = std::make_shared<const Function>(function_of<P...>(full, last, true, all));
  bound.def(
      name,
      [own, all, pointer, name, keeps](Bound<Plan>& self, const nb::args& args, const nb::kwargs& kwargs) {
        Call call(own->name);
        Given given(own->signature, own->name, args, kwargs, own->last);
        Context context{call, given, self.plan.get(), self.queue};
        context.looks = is_const<F>;
        if constexpr (requires(const Plan& plan) { plan.options().grid.ny; }) {
          context.all_rows = self.plan->options().grid.ny;
        }
        nb::object result = invoke<P...>(*own, context, &self.turn, all, [&](P... values) -> R {
          return (*self.plan.*pointer)(std::forward<P>(values)...);
        });
        if (keeps) self.kept[name] = nb::cast(call.held());
        return result;
      },
      nb::sig(kept_text(own->signature.text(name, true, result_text<R>(all)))),
      kept_text(documentation_of(documented, own->signature)));
}

template <class Plan, class R, class... P, class... D>
void method(nb::class_<Bound<Plan>>& bound, const char* name, const char* documented, bool last, bool keeps,
            R (Plan::*pointer)(P...), D... parameters) {
  method_of<Plan, R, decltype(pointer), P...>(bound, name, documented, last, keeps, pointer,
                                              std::tuple<D...>{parameters...});
}
template <class Plan, class R, class... P, class... D>
void method(nb::class_<Bound<Plan>>& bound, const char* name, const char* documented, bool last, bool keeps,
            R (Plan::*pointer)(P...) const, D... parameters) {
  method_of<Plan, R, decltype(pointer), P...>(bound, name, documented, last, keeps, pointer,
                                              std::tuple<D...>{parameters...});
}

template <class Plan, class... P, class... D>
void constructor(nb::class_<Bound<Plan>>& bound, const char* documented, bool last, D... parameters) {
  const std::tuple<D...> all{parameters...};
  const auto own = std::make_shared<const Function>(function_of<P...>(Names<Bound<Plan>>::type, last, false, all));
  bound.def(
      "__init__",
      [own, all](Bound<Plan>* self, const nb::args& args, const nb::kwargs& kwargs) {
        Call call(own->name);
        Given given(own->signature, own->name, args, kwargs, own->last);
        Context context{call, given};
        std::unique_ptr<Plan> made;
        invoke<P...>(*own, context, nullptr, all,
                     [&](P... values) { made = std::make_unique<Plan>(std::forward<P>(values)...); });
        new (self) Bound<Plan>{std::move(made), context.queue.value_or(Queue()), nb::dict()};
      },
      nb::sig(kept_text(own->signature.text("__init__", true, "None"))),
      kept_text(documentation_of(documented, own->signature)));
}

/// Selects an overload by its parameters.
template <class... P>
struct Pick {
  template <class R>
  constexpr auto operator()(R (*pointer)(P...)) const {
    return pointer;
  }
  template <class R, class C>
  constexpr auto operator()(R (C::*pointer)(P...)) const {
    return pointer;
  }
  template <class R, class C>
  constexpr auto operator()(R (C::*pointer)(P...) const) const {
    return pointer;
  }
};
template <class... P>
inline constexpr Pick<P...> pick{};

/// Declares the class of an aggregate, before any of them is a default of another.
template <class T>
void declare(nb::module_& module) {
  nb::class_<T>(module, Members<T>::name, kept_text(std::string(documentation(Members<T>::documented))));
}

/// Throws TypeError for a name that there is not, with the nearest of those there are.
[[noreturn]] void refuse_name(const std::string& where, const std::string& name,
                              std::span<const std::string_view> names);

bool are_equal(nb::handle a, nb::handle b);

/// A function of an aggregate.
template <class T, class Pointer>
void member_function(const char* name, const char* documented, Pointer pointer) {
  auto bound = nb::borrow<nb::class_<T>>(nb::type<T>());
  const auto define = [&]<class R, class... P>(R (T::*one)(P...) const) {
    bound.def(
        name, [one](const T& self, std::remove_cvref_t<P>... values) { return to_python((self.*one)(values...)); },
        kept_text(std::string(documentation(documented))));
  };
  define(pointer);
}

/// An aggregate as a class: made by keywords, its members as attributes.
template <class T>
void aggregate() {
  auto bound = nb::borrow<nb::class_<T>>(nb::type<T>());
  Signature signature;
  constexpr bool is_made = std::is_default_constructible_v<T> && std::is_copy_constructible_v<T>;
  const char* const type = Members<T>::name;
  Members<T>::each([&]<class M, class C>(const char* name, M C::*member, bool) {
    const auto comment = kept_text(std::string(documentation(std::string(Members<T>::documented) + "::" + name)));
    if constexpr (is_view<M> || is_function<M>) {
      return;  // arguments of functions only
    } else if constexpr (is_array<M>) {
      bound.def_prop_ro(
          name,
          [member](nb::handle self) {
            auto& array = nb::cast<T&>(self).*member;
            if (array.device().backend != Backend::cpu) return to_python(array.to(array.device()));
            const std::vector<std::size_t> shape(array.shape().begin(), array.shape().end());
            using Value = std::remove_cvref_t<decltype(*array.data())>;
            return nb::cast(nb::ndarray<nb::numpy, Value>(array.data(), shape.size(), shape.data(), self));
          },
          comment);
    } else if constexpr (Aggregate<M>) {
      bound.def_prop_rw(
          name, [member](T& self) -> M& { return self.*member; },
          [member]([[maybe_unused]] T& self, const M& value) {
            if constexpr (std::is_copy_assignable_v<M>) {
              self.*member = value;
            } else {
              throw nb::attribute_error("this member cannot be replaced");
            }
          },
          nb::rv_policy::reference_internal, comment);
    } else {
      bound.def_prop_rw(
          name,
          [member](const T& self) {
            nb::object value = to_python(M(self.*member));
            // A copy: what is written to it would be lost.
            if constexpr (is_plain_list<M>) value.attr("setflags")(nb::arg("write") = false);
            return value;
          },
          [member, name, type](T& self, nb::handle value) {
            Call call(type);
            self.*member = from_python<M>(value, call, name);
          },
          nb::for_getter(nb::sig(kept_text(fmt::format("def {}(self, /) -> {}", name, type_text<M>())))),
          nb::for_setter(nb::arg("value").none()), comment);
    }
  });
  if constexpr (is_made) {
    const T defaults{};
    Members<T>::each([&]<class M, class C>(const char* name, M C::*member, bool) {
      if constexpr (!is_view<M> && !is_function<M>) {
        signature.add(name, type_text<M>(), Aggregate<M> ? nb::none() : to_python(M(defaults.*member)), true);
      }
    });
    bound.def(
        "__init__",
        [type](T* self, const nb::kwargs& values) {
          T made{};
          Call call(type);
          for (const auto& [key, value] : values) {
            const auto wanted = nb::cast<std::string>(key);
            bool is_member = false;
            Members<T>::each([&]<class M, class C>(const char* name, M C::*member, bool) {
              if constexpr (!is_view<M> && !is_function<M>) {
                if (wanted != name) return;
                made.*member = from_python<M>(value, call, wanted);
                is_member = true;
              }
            });
            if (!is_member) {
              std::vector<std::string_view> names;
              Members<T>::each([&]<class M, class C>(const char* name, M C::*, bool) { names.emplace_back(name); });
              refuse_name(type, wanted, names);
            }
          }
          new (self) T(std::move(made));
        },
        nb::sig(kept_text(signature.text("__init__", true, "None"))));
  }
  bound.def("__eq__", [](nb::handle self, nb::handle other) {
    if (!self.type().is(other.type())) return false;
    bool equal = true;
    Members<T>::each([&]<class M, class C>(const char* name, M C::*, bool) {
      if constexpr (!is_view<M> && !is_function<M>) equal = equal && are_equal(self.attr(name), other.attr(name));
    });
    return equal;
  });
  bound.def("__reduce__", [](nb::handle self) {
    nb::dict members;
    Members<T>::each([&]<class M, class C>(const char* name, M C::*, bool) {
      if constexpr (!is_view<M> && !is_function<M>) members[name] = self.attr(name);
    });
    nb::object make = nb::module_::import_("functools").attr("partial")(self.type(), **members);
    return nb::make_tuple(make, nb::tuple());
  });
  bound.def("__repr__", [type](nb::handle self) {
    std::string text = std::string(type) + "(";
    Members<T>::each([&]<class M, class C>(const char* name, M C::*, bool) {
      if constexpr (!is_view<M> && !is_function<M>) {
        const auto value = nb::cast<std::string>(nb::repr(self.attr(name)));
        text += fmt::format("{}{}={}", text.back() == '(' ? "" : ", ", name, value.size() > 80 ? "..." : value);
      }
    });
    return text + ")";
  });
}

}  // namespace holotone::python

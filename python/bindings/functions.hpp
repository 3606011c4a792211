#pragma once
// Functions, and classes with their methods, as Python's.
#include "arguments.hpp"
#include "callbacks.hpp"
#include <algorithm>
#include <deque>
#include <fmt/ranges.h>
#include <memory>

namespace holotone::python {

/// What all calls of one function share.
struct Function {
  std::string name;  ///< "PropagationPlan.execute"
  std::vector<Name> parameters;
  Signature signature{};
  bool last = true;         ///< no other overload follows
  bool starts = true;       ///< may start threads (Work)
  bool has_stream = false;  ///< `stream` comes after the arguments of the parameters
  bool is_silent = false;   ///< neither a result nor progress: on CUDA it may only enqueue
};

/// The C++ side of one call, which owns what the work uses (Job).
class Invocation {
 public:
  Invocation() = default;
  Invocation(const Invocation&) = delete;
  Invocation& operator=(const Invocation&) = delete;
  virtual ~Invocation() = default;

  /// Takes the arguments of Python.
  virtual void take(Context& context, const std::vector<Name>& names) = 0;
  /// Without the interpreter's lock.
  virtual void run() = 0;
  /// The result; null: none.
  virtual nb::object result() = 0;
};

/// The arguments of one call, taken in order.
template <std::size_t Index, class P>
struct Slot {
  Argument<P> argument;
};
template <class Indices, class... P>
struct Slots;
template <std::size_t... I, class... P>
struct Slots<std::index_sequence<I...>, P...> : Slot<I, P>... {
  Slots([[maybe_unused]] Context& context, [[maybe_unused]] const std::vector<Name>& names)
      : Slot<I, P>{Argument<P>(context, names[I])}... {}
  template <class Callee>
  decltype(auto) pass_to(const Callee& callee) {
    return callee(Slot<I, P>::argument.get()...);
  }
};

/// Calls callee(argument...) for a result R.
template <class Callee, class R, class... P>
class TypedInvocation final : public Invocation {
 public:
  explicit TypedInvocation(Callee callee) : callee_(std::move(callee)) {}
  void take(Context& context, const std::vector<Name>& names) override { slots_.emplace(context, names); }
  void run() override {
    if constexpr (std::is_void_v<R>) {
      slots_->pass_to(callee_);
    } else {
      result_.emplace(slots_->pass_to(callee_));
    }
  }
  nb::object result() override {
    if constexpr (std::is_void_v<R>) {
      return {};
    } else {
      return to_python(std::move(*result_));
    }
  }

 private:
  Callee callee_;
  std::optional<Slots<std::index_sequence_for<P...>, P...>> slots_;
  std::optional<std::conditional_t<std::is_void_v<R>, bool, std::remove_cvref_t<R>>> result_;
};

/// What overloads had against the arguments, while others are tried.
struct Refusals {
  std::optional<Error> value;  ///< of the first that fitted by names
  std::string missing;         ///< TypeError of the first that lacked an argument
};
Refusals& refusals();
/// Tries the next overload; for the last one throws what the first had against the arguments.
[[noreturn]] void refuse_values(bool last, const Error& error);

/// Documentation of a declaration, and the comments on its arguments.
std::string documentation_of(std::string_view declaration, const Signature& signature);

template <class P>
inline constexpr bool takes_array = is_view<std::remove_cvref_t<P>>;

template <class R, class... P>
Function describe_function(std::string name, bool last, bool may_have_stream, std::vector<Name> parameters) {
  Function function{std::move(name), std::move(parameters)};
  function.last = last;
  [[maybe_unused]] std::size_t at = 0;
  try {
    (Argument<P>::describe(function.signature, function.parameters[at++]), ...);
  } catch (const std::logic_error& error) {
    throw std::logic_error(function.name + ": " + error.what());
  }
  const bool has_queue = (std::is_base_of_v<QueueArgument<P>, Argument<P>> || ...);
  function.starts = function.name != "set_cuda_library_folders" && function.name != "devices";
  function.is_silent = std::is_void_v<R> && !(std::is_same_v<P, Progress&> || ... || false);
  function.has_stream = may_have_stream && !has_queue && (takes_array<P> || ... || false);
  if (function.has_stream) function.signature.add("stream", "Any", nb::none(), true, "stream of the caller's work");
  return function;
}

/// The result, and the arrays that are made.
template <class R, class... P>
std::string result_text(const Function& function, bool method) {
  std::vector<std::string> parts;
  if constexpr (!std::is_void_v<R>) {
    using Value = std::remove_cvref_t<R>;
    parts.push_back(value_text<Value>());
    if (is_array<Value> && (method || function.signature.has("device"))) parts.back() = on_device(parts.back());
  }
  [[maybe_unused]] std::size_t at = 0;
  [[maybe_unused]] const auto add = [&](std::string (*type)()) {
    if (function.parameters[at++].shape) parts.push_back(type());
  };
  (add(&type_text<std::remove_cvref_t<P>>), ...);
  if (parts.empty()) return "None";
  return parts.size() == 1 ? parts[0] : fmt::format("tuple[{}]", fmt::join(parts, ", "));
}

/// Text of a function's signature, before it is bound in `scope`.
const char* signature_text(nb::handle scope, const char* name, bool method, const Function& function,
                           const std::string& result);

/// Binds a function of a module. `make` gives what one call works with.
void define_function(nb::module_& module, const char* name, const char* documented, Function function,
                     const std::string& result, std::function<std::unique_ptr<Invocation>()> make);

template <class R, class... P>
void function(nb::module_& module, const char* name, const char* documented, bool last, R (*pointer)(P...),
              std::vector<Name> parameters) {
  Function function = describe_function<R, P...>(name, last, true, std::move(parameters));
  const std::string result = result_text<R, P...>(function, false);
  define_function(module, name, documented, std::move(function), result, [pointer]() -> std::unique_ptr<Invocation> {
    return std::make_unique<TypedInvocation<R (*)(P...), R, P...>>(pointer);
  });
}

/// A method of plans.
struct Method {
  Function function;
  const char* name;
  bool keeps = false;  ///< the plan reads the arrays after the call
  bool is_const = false;
  bool in_panel = false;  ///< its fields have the pitch and the wavelength of the plan's panel
  std::function<std::unique_ptr<Invocation>(void* plan)> make{};
};
nb::object call_method(const Method& method, BoundState& state, void* plan, nb::handle self, const nb::args& args,
                       const nb::kwargs& kwargs);

template <class Plan>
void define_method(nb::class_<Bound<Plan>>& bound, const char* documented, Method method, const std::string& result) {
  const auto kept = std::make_shared<const Method>(std::move(method));
  bound.def(
      kept->name,
      [kept](Bound<Plan>& self, const nb::args& args, const nb::kwargs& kwargs) {
        return call_method(*kept, self, self.plan.get(), nb::find(self), args, kwargs);
      },
      nb::sig(signature_text(bound, kept->name, true, kept->function, result)),
      kept_text(documentation_of(documented, kept->function.signature)));
}

template <class Plan, class Pointer>
struct MethodCall {
  Plan* plan;
  Pointer pointer;

  template <class... P>
  decltype(auto) operator()(P&&... argument) const {
    return (plan->*pointer)(std::forward<P>(argument)...);
  }
};

template <class Plan, class R, class... P, class Pointer>
void method_of(nb::class_<Bound<Plan>>& bound, const char* name, const char* documented, bool last, bool keeps,
               bool is_const, Pointer pointer, std::vector<Name> parameters) {
  const std::string full = std::string(Names<Bound<Plan>>::type) + "." + name;
  Method method{describe_function<R, P...>(full, last, true, std::move(parameters)), name, keeps, is_const};
  method.in_panel = full != "EyePlan.adjoint" && full != "FourierLensPlan.adjoint";  // fields of another plane
  method.make = [pointer](void* plan) -> std::unique_ptr<Invocation> {
    using Callee = MethodCall<Plan, Pointer>;
    return std::make_unique<TypedInvocation<Callee, R, P...>>(Callee{static_cast<Plan*>(plan), pointer});
  };
  const std::string result = result_text<R, P...>(method.function, true);
  define_method(bound, documented, std::move(method), result);
}

template <class Plan, class R, class... P>
void method(nb::class_<Bound<Plan>>& bound, const char* name, const char* documented, bool last, bool keeps,
            R (Plan::*pointer)(P...), std::vector<Name> parameters) {
  method_of<Plan, R, P...>(bound, name, documented, last, keeps, false, pointer, std::move(parameters));
}
template <class Plan, class R, class... P>
void method(nb::class_<Bound<Plan>>& bound, const char* name, const char* documented, bool last, bool keeps,
            R (Plan::*pointer)(P...) const, std::vector<Name> parameters) {
  method_of<Plan, R, P...>(bound, name, documented, last, keeps, true, pointer, std::move(parameters));
}

/// Runs a constructor's call, which makes the plan. Returns what its arguments say for all methods: queue and panel.
struct PanelState {
  Queue queue;
  double pitch_m = 0;
  double wavelength_m = 0;
};
PanelState construct(const Function& function, const nb::args& args, const nb::kwargs& kwargs,
                     std::unique_ptr<Invocation> invocation);

template <class Plan>
struct ConstructorCall {
  std::shared_ptr<std::unique_ptr<Plan>> made;

  template <class... P>
  void operator()(P&&... argument) const {
    *made = std::make_unique<Plan>(std::forward<P>(argument)...);
  }
};

template <class Plan, class... P>
void constructor(nb::class_<Bound<Plan>>& bound, const char* documented, bool last, std::vector<Name> parameters) {
  const auto function = std::make_shared<const Function>(
      describe_function<void, P...>(Names<Bound<Plan>>::type, last, false, std::move(parameters)));
  bound.def(
      "__init__",
      [function](Bound<Plan>* self, const nb::args& args, const nb::kwargs& kwargs) {
        using Callee = ConstructorCall<Plan>;
        const Callee callee{std::make_shared<std::unique_ptr<Plan>>()};
        const auto [queue, pitch_m, wavelength_m] =
            construct(*function, args, kwargs, std::make_unique<TypedInvocation<Callee, void, P...>>(callee));
        std::int64_t all_rows = 0;
        if constexpr (requires(const Plan& plan) { plan.options().grid.ny; })
          all_rows = (*callee.made)->options().grid.ny;
        new (self) Bound<Plan>{{queue, pitch_m, wavelength_m, all_rows}, std::move(*callee.made)};
      },
      nb::sig(kept_text(function->signature.text("__init__", true, "None"))),
      kept_text(documentation_of(documented, function->signature)));
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

}  // namespace holotone::python

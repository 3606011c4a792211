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
  Signature signature{};
  bool last = true;         ///< no other overload follows
  bool starts = true;       ///< may start threads (Work)
  bool has_stream = false;  ///< `stream` comes after the arguments of the parameters
};

/// What overloads had against the arguments, while others are tried.
struct Refusals {
  std::optional<Error> value;  ///< of the first that fitted by names
  std::string missing;         ///< TypeError of the first that lacked an argument
};
Refusals& refusals();
/// Tries the next overload; for the last one throws what the first had against the arguments.
[[noreturn]] void refuse_values(bool last, const Error& error);

/// Calls body(argument...) of a function's parameters, without the interpreter's lock and behind the caller's stream.
/// Returns its result and the outputs. The call and `body` own what the work uses (Job).
template <class... P, class... D, class Body>
nb::object invoke(const Function& function, const std::shared_ptr<Call>& call, Context& context, Turn* turn,
                  const std::tuple<D...>& parameters, const Body& body) {
  using Arguments = std::tuple<Argument<P>...>;
  using Result =
      decltype(std::apply([&](auto&... argument) { return body(argument.get()...); }, std::declval<Arguments&>()));
  struct State {
    std::shared_ptr<Call> call;
    Body body;
    Queue queue{};
    std::unique_ptr<Arguments> arguments{};
    std::optional<std::conditional_t<std::is_void_v<Result>, bool, Result>> result{};
  };
  call->begin(function.starts);
  const auto state = std::make_shared<State>(State{call, body});
  try {
    std::apply(
        [&](const D&... parameter) { state->arguments.reset(new Arguments{Argument<P>(context, parameter)...}); },
        parameters);
  } catch (const Error& error) {
    refuse_values(function.last, error);
  }
  refusals() = {};
  if (function.has_stream) call->set_stream(context.given.next());
  state->queue = context.queue.value_or(Queue());
  for (const auto& output : context.outputs) call->keep(output.array);
  if (turn) call->job()->use(*turn, Turn::By::own_method, context.looks);
  for (Turn* const one : context.turns) call->job()->use(*one, Turn::By::function);
  call->before(state->queue);
  // A call of a plan on CUDA that only enqueues.
  constexpr bool reports = (std::is_same_v<P, Progress&> || ... || false);
  const bool enqueues = turn && std::is_void_v<Result> && !reports && call->enqueues(state->queue);
  call->job()->run(
      [kept = state] {
        const auto work = [&]() -> Result {
          return std::apply([&](auto&... argument) -> Result { return kept->body(argument.get()...); },
                            *kept->arguments);
        };
        if constexpr (std::is_void_v<Result>) {
          work();
        } else {
          kept->result.emplace(work());
        }
        kept->call->after(kept->queue);
      },
      !function.starts || enqueues || (context.looks && sizeof...(P) == 0));
  nb::list results;
  if constexpr (!std::is_void_v<Result>) results.append(to_python(std::move(*state->result)));
  for (auto& [array, made] : context.outputs) {
    results.append(made ? call->finished(std::move(array)) : std::move(array));
  }
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
  function.starts = function.name != "set_cuda_library_folders" && function.name != "devices";
  function.has_stream = may_have_stream && !has_queue && (takes_array<P> || ... || false);
  if (function.has_stream) function.signature.add("stream", "Any", nb::none(), true, "stream of the caller's work");
  return function;
}

/// Text that lives as long as the module.
const char* kept_text(std::string text);

/// The result, and the arrays that are made.
template <class R, class... P, class... D>
std::string result_text(const Signature& signature, bool method, const std::tuple<D...>& /*parameters*/) {
  std::vector<std::string> parts;
  if constexpr (!std::is_void_v<R>) {
    using Value = std::remove_cvref_t<R>;
    parts.push_back(value_text<Value>());
    const bool has_device =
        method || std::ranges::any_of(signature.parameters, [](const Parameter& one) { return one.name == "device"; });
    if (is_array<Value> && has_device) parts.back() = on_device(parts.back());
  }
  [[maybe_unused]] const auto add = [&]<class Q, class E>() {
    if constexpr (!std::is_same_v<E, Name>) parts.push_back(type_text<Q>());
  };
  (add.template operator()<P, D>(), ...);
  if (parts.empty()) return "None";
  return parts.size() == 1 ? parts[0] : fmt::format("tuple[{}]", fmt::join(parts, ", "));
}

/// Text of a function's signature, before it is bound in `scope`.
template <class R, class... P, class... D>
const char* signature_text(nb::handle scope, const char* name, bool method, const Function& function,
                           const std::tuple<D...>& parameters) {
  const bool alone = function.last && !nb::hasattr(scope, name);
  return kept_text(
      function.signature.text(name, method, result_text<R, P...>(function.signature, method, parameters), alone));
}

template <class R, class... P, class... D>
void function(nb::module_& module, const char* name, const char* documented, bool last, R (*pointer)(P...),
              D... parameters) {
  const std::tuple<D...> all{parameters...};
  const auto function = std::make_shared<const Function>(function_of<P...>(name, last, true, all));
  module.def(
      name,
      [function, all, pointer](const nb::args& args, const nb::kwargs& kwargs) {
        const auto call = std::make_shared<Call>(function->name);
        call->keep(args, kwargs);
        Given given(function->signature, function->name, args, kwargs, function->last);
        Context context{*call, given};
        return invoke<P...>(*function, call, context, nullptr, all, pointer);
      },
      nb::sig(signature_text<R, P...>(module, name, false, *function, all)),
      kept_text(documentation_of(documented, function->signature)));
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
  const auto function = std::make_shared<const Function>(function_of<P...>(full, last, true, all));
  const bool in_panel = full != "EyePlan.adjoint" && full != "FourierLensPlan.adjoint";  // fields of another plane
  bound.def(
      name,
      [function, all, pointer, name, keeps, in_panel](Bound<Plan>& self, const nb::args& args,
                                                      const nb::kwargs& kwargs) {
        const auto call = std::make_shared<Call>(function->name);
        call->keep(args, kwargs, nb::find(self));
        Given given(function->signature, function->name, args, kwargs, function->last);
        if (in_panel && self.pitch_m > 0 && self.wavelength_m > 0) {
          given.require_grid(function->name, function->last, self.pitch_m, self.wavelength_m);
        }
        Context context{*call, given, self.plan.get(), self.queue};
        context.looks = is_const<F>;
        if constexpr (requires(const Plan& plan) { plan.options().grid.ny; }) {
          context.all_rows = self.plan->options().grid.ny;
        }
        Call* const held = keeps ? call.get() : nullptr;
        return invoke<P...>(*function, call, context, &self.turn, all, [pointer, name, held, &self](P... values) -> R {
          if constexpr (std::is_void_v<R>) {
            (*self.plan.*pointer)(std::forward<P>(values)...);
            if (!held) return;
            const nb::gil_scoped_acquire lock;  // before another thread has its turn
            self.kept[name] = nb::cast(held->held());
          } else {
            return (*self.plan.*pointer)(std::forward<P>(values)...);
          }
        });
      },
      nb::sig(signature_text<R, P...>(bound, name, true, *function, all)),
      kept_text(documentation_of(documented, function->signature)));
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
  const auto function = std::make_shared<const Function>(function_of<P...>(Names<Bound<Plan>>::type, last, false, all));
  bound.def(
      "__init__",
      [function, all](Bound<Plan>* self, const nb::args& args, const nb::kwargs& kwargs) {
        const auto call = std::make_shared<Call>(function->name);
        call->keep(args, kwargs);
        Given given(function->signature, function->name, args, kwargs, function->last);
        Context context{*call, given};
        const auto made = std::make_shared<std::unique_ptr<Plan>>();
        invoke<P...>(*function, call, context, nullptr, all,
                     [made](P... values) { *made = std::make_unique<Plan>(std::forward<P>(values)...); });
        new (self) Bound<Plan>{std::move(*made), context.queue.value_or(Queue()), nb::dict(), given.number("pitch_m"),
                               given.number("wavelength_m")};
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

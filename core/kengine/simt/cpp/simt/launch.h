// Launches from host code, and the descriptions of kernels by which they are launched from outside.
#pragma once

namespace simt {

// All of a kernel's description is constant: a constructor for it would cost 20 ms of every candidate's compilation.
template <class T>
struct TypeCode {
  static constexpr const char* get() {
    using V = std::remove_cv_t<T>;  // may be incomplete
    if constexpr (std::is_same<V, bool>::value) {
      return "b1";
    } else if constexpr (std::is_floating_point<V>::value) {
      return sizeof(V) == 4 ? "f4" : "f8";
    } else if constexpr (std::is_integral<V>::value || std::is_enum<V>::value) {
      constexpr bool is_signed = std::is_signed<V>::value || std::is_enum<V>::value;
      if constexpr (sizeof(V) == 1) return is_signed ? "i1" : "u1";
      if constexpr (sizeof(V) == 2) return is_signed ? "i2" : "u2";
      if constexpr (sizeof(V) == 4) return is_signed ? "i4" : "u4";
      return is_signed ? "i8" : "u8";
    } else {
      return "v";
    }
  }
};
template <>
struct TypeCode<void> {
  static constexpr const char* get() { return "v"; }
};
template <>
struct TypeCode<const void> : TypeCode<void> {};

template <class T>
struct Describe {
  static constexpr ParameterInfo get() { return {TypeCode<T>::get(), sizeof(T), 0, 0, alignof(T)}; }
};
template <class T>
struct Describe<T*> {
  static constexpr ParameterInfo get() { return {TypeCode<std::remove_cv_t<T>>::get(), sizeof(T*), 1, std::is_const<T>::value, alignof(T*)}; }
};
template <class T>
struct Describe<T&> : Describe<std::remove_cv_t<T>> {};
template <>
struct Describe<void> {
  static constexpr ParameterInfo get() { return {"v", 0, 0, 0, 1}; }
};

// Arguments side by side. Not std::tuple: reading it must not be instrumented, and must inline.
template <size_t I, class T>
struct Slot {
  T value;
};
template <class Indices, class... P>
struct Pack;
template <size_t... I, class... P>
struct Pack<std::index_sequence<I...>, P...> : Slot<I, std::remove_cv_t<std::remove_reference_t<P>>>... {
  template <class... A>
  explicit Pack(A&&... a) : Slot<I, std::remove_cv_t<std::remove_reference_t<P>>>{static_cast<std::remove_cv_t<std::remove_reference_t<P>>>(a)}... {}
  template <class F>
  struct Call {
    F function;
    Pack arguments;
    // The kernel itself is never inlined here: the built-in variables are constant within a call only.
    __attribute__((no_sanitize("thread", "undefined"))) static void run(void* block) {
      auto* c = static_cast<Call*>(block);
      do c->function(static_cast<Slot<I, std::remove_cv_t<std::remove_reference_t<P>>>&>(c->arguments).value...);
      while (simt_next_thread());
    }
  };
};
template <class... P>
using PackOf = Pack<std::index_sequence_for<P...>, P...>;

template <class F>
struct Signature;
template <class R, class... P>
struct Signature<R (*)(P...)> {
  using Arguments = PackOf<P...>;
  using Packed = typename Arguments::template Call<R (*)(P...)>;
  static constexpr unsigned count = sizeof...(P);
  static constexpr ParameterInfo parameters[] = {Describe<std::remove_cv_t<std::remove_reference_t<P>>>::get()..., Describe<void>::get()};
  // Arguments are copied byte by byte, as the devices copy them.
  template <size_t... I>
  __attribute__((no_sanitize("thread", "undefined"))) static void pack_all(Packed* p, void** values, std::index_sequence<I...>) {
    (__builtin_memcpy(static_cast<void*>(&static_cast<Slot<I, std::remove_cv_t<std::remove_reference_t<P>>>&>(p->arguments).value), values[I], sizeof(std::remove_cv_t<std::remove_reference_t<P>>)), ...);
  }
  __attribute__((no_sanitize("thread", "undefined"))) static void pack(const void* function, void* block, void** values) {
    auto* p = static_cast<Packed*>(block);
    p->function = reinterpret_cast<R (*)(P...)>(const_cast<void*>(function));
    pack_all(p, values, std::index_sequence_for<P...>());
  }
  template <size_t... I>
  static R call_all(R (*f)(P...), void** values, std::index_sequence<I...>) {
    return f(static_cast<P>(*static_cast<std::remove_cv_t<std::remove_reference_t<P>>*>(values[I]))...);
  }
};

struct KernelLink {
  __attribute__((no_sanitize("thread", "undefined"))) explicit KernelLink(KernelEntry& entry) {
    entry.next = simt_module.kernels;
    simt_module.kernels = &entry;
  }
};

template <class F, F function>
struct HostCall;
template <class R, class... P, R (*function)(P...)>
struct HostCall<R (*)(P...), function> {
  using S = Signature<R (*)(P...)>;
  static constexpr ParameterInfo result = Describe<R>::get();
  static void call(void** values, void* result) {
    constexpr auto all = std::make_index_sequence<sizeof...(P)>();
    if constexpr (std::is_void<R>::value) {
      S::call_all(function, values, all);
    } else {
      static_assert(std::is_trivially_copyable<R>::value, "an exported host function returns a plain value");
      R value = S::call_all(function, values, all);
      memcpy(result, &value, sizeof value);
    }
  }
};

// Launch of a function whose type is known: arguments convert as in a call.
template <class F>
struct Launcher;
template <class... P>
struct Launcher<void (*)(P...)> {
  using S = Signature<void (*)(P...)>;
  void (*function)(P...);
  LaunchConfig config;
  const char* name;
  int cooperative;
  void operator()(P... arguments) const {
    auto* p = static_cast<typename S::Packed*>(simt_argument_block(sizeof(typename S::Packed)));
    new (p) typename S::Packed{function, typename S::Arguments(arguments...)};
    simt_launch(&simt_module, name, reinterpret_cast<const void*>(function), config.grid, config.block, config.shared_bytes, &S::Packed::run, p, cooperative);
  }
};

// Launch of a template whose arguments are still to be deduced.
template <class F>
struct GenericLauncher {
  F call;
  LaunchConfig config;
  const char* name;
  template <class... A>
  void operator()(A&&... arguments) const {
    using Arguments = PackOf<std::decay_t<A>...>;
    using Packed = typename Arguments::template Call<F>;
    auto* p = static_cast<Packed*>(simt_argument_block(sizeof(Packed)));
    new (p) Packed{call, Arguments(static_cast<std::decay_t<A>>(arguments)...)};
    simt_launch(&simt_module, name, nullptr, config.grid, config.block, config.shared_bytes, &Packed::run, p, 0);
  }
};

template <class F>
Launcher<F*> make_launcher(F* function, const char* name, LaunchConfig config) {
  return {function, config, name, 0};
}
template <class F>
GenericLauncher<F> make_generic(F call, const char* name, LaunchConfig config) {
  return {call, config, name};
}

}  // namespace simt

#define SIMT_UNCHECKED __attribute__((no_sanitize("thread", "undefined"), always_inline))
#define SIMT_LAUNCH(K, ...) ::simt::make_launcher(K, #K, ::simt::LaunchConfig(__VA_ARGS__))
#define SIMT_LAUNCH_TEMPLATE(K, ...) ::simt::make_generic([=](auto&... simt_a) SIMT_UNCHECKED { K(simt_a...); }, #K, ::simt::LaunchConfig(__VA_ARGS__))
#define SIMT_JOIN_(a, b) a##b
#define SIMT_JOIN(a, b) SIMT_JOIN_(a, b)
#define SIMT_KERNEL(name, ...) SIMT_KERNEL_AT(__COUNTER__, name, __VA_ARGS__)
#define SIMT_KERNEL_AT(n, name, ...)                                                                                 \
  static ::simt::KernelEntry SIMT_JOIN(simt_kernel_, n) = {                                                           \
      name, reinterpret_cast<const void*>(&__VA_ARGS__), &::simt::Signature<decltype(&__VA_ARGS__)>::Packed::run,     \
      ::simt::Signature<decltype(&__VA_ARGS__)>::count, ::simt::Signature<decltype(&__VA_ARGS__)>::parameters,        \
      sizeof(typename ::simt::Signature<decltype(&__VA_ARGS__)>::Packed),                                             \
      &::simt::Signature<decltype(&__VA_ARGS__)>::pack, 0, 0, nullptr, {}, nullptr};                                  \
  static ::simt::KernelLink SIMT_JOIN(simt_link_, n){SIMT_JOIN(simt_kernel_, n)};
// Behind a kernel's body, also where a macro makes the kernel.
#define SIMT_KERNEL_HERE(k) SIMT_KERNEL(#k, k)
#define SIMT_HOST(name, ...) SIMT_HOST_AT(__COUNTER__, name, __VA_ARGS__)
#define SIMT_HOST_AT(n, name, ...)                                                                                   \
  static ::simt::KernelEntry SIMT_JOIN(simt_host_, n) = {                                                             \
      name, reinterpret_cast<const void*>(&__VA_ARGS__), nullptr, ::simt::Signature<decltype(&__VA_ARGS__)>::count,   \
      ::simt::Signature<decltype(&__VA_ARGS__)>::parameters, 0, nullptr, 0, 1,                                        \
      &::simt::HostCall<decltype(&__VA_ARGS__), &__VA_ARGS__>::call,                                                  \
      ::simt::HostCall<decltype(&__VA_ARGS__), &__VA_ARGS__>::result, nullptr};                                       \
  static ::simt::KernelLink SIMT_JOIN(simt_link_, n){SIMT_JOIN(simt_host_, n)};

// Errors and the macros that raise them.
#pragma once
#include "macros.h"

namespace c10 {
class Error : public std::exception {
 public:
  explicit Error(std::string message) : message_(std::move(message)) {}
  const char* what() const noexcept override { return message_.c_str(); }
  const std::string& msg() const { return message_; }
  const char* what_without_backtrace() const noexcept { return message_.c_str(); }

 private:
  std::string message_;
};
class IndexError : public Error { using Error::Error; };
class ValueError : public Error { using Error::Error; };
class TypeError : public Error { using Error::Error; };
class NotImplementedError : public Error { using Error::Error; };

template <class... A>
inline std::string str(const A&... parts) {
  std::ostringstream out;
  (void)(out << ... << parts);
  return out.str();
}
}  // namespace c10

namespace light {
using c10::str;
template <class E = c10::Error>
[[noreturn]] inline void raise(const std::string& message) { throw E(message); }
inline std::string explain(const char* condition, const std::string& message) {
  if (!message.empty()) return message;
  return std::string("Expected ") + condition + " to be true, but got false.  (Could this error message be improved?  If so, please report an enhancement request to PyTorch.)";
}
LIGHT_EXPORT void warn(const std::string& message);
}  // namespace light

// In device code a failed check stops the kernel; there are no exceptions.
#if defined(__CUDA_ARCH__) && !defined(SIMT_LANES)
#define LIGHT_CHECK(E, condition, ...) do { if (!(condition)) __trap(); } while (0)
#else
#define LIGHT_CHECK(E, condition, ...)                                                              \
  do {                                                                                              \
    if (C10_UNLIKELY(!(condition))) ::light::raise<E>(::light::explain(#condition, ::light::str(__VA_ARGS__))); \
  } while (0)
#endif
#define TORCH_CHECK(condition, ...) LIGHT_CHECK(::c10::Error, condition, __VA_ARGS__)
#define STD_TORCH_CHECK TORCH_CHECK
#define TORCH_CHECK_INDEX(condition, ...) LIGHT_CHECK(::c10::IndexError, condition, __VA_ARGS__)
#define TORCH_CHECK_VALUE(condition, ...) LIGHT_CHECK(::c10::ValueError, condition, __VA_ARGS__)
#define TORCH_CHECK_TYPE(condition, ...) LIGHT_CHECK(::c10::TypeError, condition, __VA_ARGS__)
#define TORCH_CHECK_NOT_IMPLEMENTED(condition, ...) LIGHT_CHECK(::c10::NotImplementedError, condition, __VA_ARGS__)
#define TORCH_CHECK_ARG(condition, index, ...) LIGHT_CHECK(::c10::ValueError, condition, "invalid argument ", index, ": ", ##__VA_ARGS__)
#define TORCH_INTERNAL_ASSERT(condition, ...) LIGHT_CHECK(::c10::Error, condition, __VA_ARGS__)
#define TORCH_INTERNAL_ASSERT_DEBUG_ONLY(...) ((void)0)
#define AT_ASSERT(condition, ...) LIGHT_CHECK(::c10::Error, condition, __VA_ARGS__)
#define AT_ASSERTM(condition, ...) LIGHT_CHECK(::c10::Error, condition, __VA_ARGS__)
#define AT_ERROR(...) do { ::light::raise(::light::str(__VA_ARGS__)); } while (0)
#define C10_THROW_ERROR(type, ...) throw ::c10::type(::light::str(__VA_ARGS__))
#define TORCH_WARN(...) ::light::warn(::light::str(__VA_ARGS__))
#define TORCH_WARN_ONCE(...)                              \
  do {                                                    \
    static bool light_warned = (TORCH_WARN(__VA_ARGS__), true); \
    (void)light_warned;                                   \
  } while (0)
#define TORCH_CHECK_EQ(a, b) TORCH_CHECK((a) == (b), "Check failed: ", #a " == " #b, " (", a, " vs. ", b, "). ")
#define TORCH_CHECK_NE(a, b) TORCH_CHECK((a) != (b), "Check failed: ", #a " != " #b, " (", a, " vs. ", b, "). ")
#define TORCH_CHECK_LE(a, b) TORCH_CHECK((a) <= (b), "Check failed: ", #a " <= " #b, " (", a, " vs. ", b, "). ")
#define TORCH_CHECK_LT(a, b) TORCH_CHECK((a) < (b), "Check failed: ", #a " < " #b, " (", a, " vs. ", b, "). ")
#define TORCH_CHECK_GE(a, b) TORCH_CHECK((a) >= (b), "Check failed: ", #a " >= " #b, " (", a, " vs. ", b, "). ")
#define TORCH_CHECK_GT(a, b) TORCH_CHECK((a) > (b), "Check failed: ", #a " > " #b, " (", a, " vs. ", b, "). ")

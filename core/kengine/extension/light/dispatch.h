// AT_DISPATCH_*: a block of code for each element type.
#pragma once
#include "types.h"

namespace detail {
inline c10::ScalarType scalar_type(c10::ScalarType t) { return t; }
#ifdef LIGHT_DISPATCH_BY_SCALAR_TYPE  // torch has it no more: x.scalar_type() instead of x.type()
c10::ScalarType scalar_type(const c10::DeprecatedTypeProperties& t) = delete;
#else
inline c10::ScalarType scalar_type(const c10::DeprecatedTypeProperties& t) { return t.scalarType(); }
#endif
}  // namespace detail

#define AT_PRIVATE_CASE_TYPE_USING_HINT(type, hint, ...)                 \
  case type: {                                                           \
    using hint [[maybe_unused]] = ::c10::ScalarTypeToCPPTypeT<type>;     \
    return __VA_ARGS__();                                                \
  }
#define AT_DISPATCH_CASE(type, ...) AT_PRIVATE_CASE_TYPE_USING_HINT(type, scalar_t, __VA_ARGS__)
#define AT_DISPATCH_SWITCH(TYPE, NAME, ...)                                                                   \
  [&] {                                                                                                       \
    const auto& the_type = TYPE;                                                                              \
    constexpr const char* at_dispatch_name = NAME;                                                            \
    ::c10::ScalarType _st = ::detail::scalar_type(the_type);                                                  \
    switch (_st) {                                                                                            \
      __VA_ARGS__                                                                                             \
      default:                                                                                                \
        ::light::raise<::c10::NotImplementedError>(::light::str('"', at_dispatch_name, "\" not implemented for '", ::c10::toString(_st), "'")); \
    }                                                                                                         \
  }()
#define LIGHT_CASES_FLOAT(...) AT_DISPATCH_CASE(::c10::ScalarType::Double, __VA_ARGS__) AT_DISPATCH_CASE(::c10::ScalarType::Float, __VA_ARGS__)
#define LIGHT_CASES_INTEGER(...)                                                                                          \
  AT_DISPATCH_CASE(::c10::ScalarType::Byte, __VA_ARGS__) AT_DISPATCH_CASE(::c10::ScalarType::Char, __VA_ARGS__)            \
  AT_DISPATCH_CASE(::c10::ScalarType::Int, __VA_ARGS__) AT_DISPATCH_CASE(::c10::ScalarType::Long, __VA_ARGS__)             \
  AT_DISPATCH_CASE(::c10::ScalarType::Short, __VA_ARGS__)
#define LIGHT_CASES_ALL(...) LIGHT_CASES_INTEGER(__VA_ARGS__) LIGHT_CASES_FLOAT(__VA_ARGS__)
#define LIGHT_CASES_REDUCED(...) AT_DISPATCH_CASE(::c10::ScalarType::Half, __VA_ARGS__) AT_DISPATCH_CASE(::c10::ScalarType::BFloat16, __VA_ARGS__)

#define AT_DISPATCH_CASE_FLOATING_TYPES(...) LIGHT_CASES_FLOAT(__VA_ARGS__)
#define AT_DISPATCH_CASE_FLOATING_TYPES_AND_HALF(...) LIGHT_CASES_FLOAT(__VA_ARGS__) AT_DISPATCH_CASE(::c10::ScalarType::Half, __VA_ARGS__)
#define AT_DISPATCH_CASE_REDUCED_FLOATING_TYPES(...) LIGHT_CASES_REDUCED(__VA_ARGS__)
#define AT_DISPATCH_CASE_INTEGRAL_TYPES(...) LIGHT_CASES_INTEGER(__VA_ARGS__)
#define AT_DISPATCH_CASE_ALL_TYPES(...) LIGHT_CASES_ALL(__VA_ARGS__)

#define AT_DISPATCH_FLOATING_TYPES(TYPE, NAME, ...) AT_DISPATCH_SWITCH(TYPE, NAME, LIGHT_CASES_FLOAT(__VA_ARGS__))
#define AT_DISPATCH_FLOATING_TYPES_AND_HALF(TYPE, NAME, ...) AT_DISPATCH_SWITCH(TYPE, NAME, AT_DISPATCH_CASE_FLOATING_TYPES_AND_HALF(__VA_ARGS__))
#define AT_DISPATCH_REDUCED_FLOATING_TYPES(TYPE, NAME, ...) AT_DISPATCH_SWITCH(TYPE, NAME, LIGHT_CASES_REDUCED(__VA_ARGS__))
#define AT_DISPATCH_FLOATING_TYPES_AND(A, TYPE, NAME, ...) AT_DISPATCH_SWITCH(TYPE, NAME, LIGHT_CASES_FLOAT(__VA_ARGS__) AT_DISPATCH_CASE(A, __VA_ARGS__))
#define AT_DISPATCH_FLOATING_TYPES_AND2(A, B, TYPE, NAME, ...) \
  AT_DISPATCH_SWITCH(TYPE, NAME, LIGHT_CASES_FLOAT(__VA_ARGS__) AT_DISPATCH_CASE(A, __VA_ARGS__) AT_DISPATCH_CASE(B, __VA_ARGS__))
#define AT_DISPATCH_FLOATING_TYPES_AND3(A, B, C, TYPE, NAME, ...) \
  AT_DISPATCH_SWITCH(TYPE, NAME, LIGHT_CASES_FLOAT(__VA_ARGS__) AT_DISPATCH_CASE(A, __VA_ARGS__) AT_DISPATCH_CASE(B, __VA_ARGS__) AT_DISPATCH_CASE(C, __VA_ARGS__))
#define AT_DISPATCH_INTEGRAL_TYPES(TYPE, NAME, ...) AT_DISPATCH_SWITCH(TYPE, NAME, LIGHT_CASES_INTEGER(__VA_ARGS__))
#define AT_DISPATCH_INTEGRAL_TYPES_AND(A, TYPE, NAME, ...) AT_DISPATCH_SWITCH(TYPE, NAME, LIGHT_CASES_INTEGER(__VA_ARGS__) AT_DISPATCH_CASE(A, __VA_ARGS__))
#define AT_DISPATCH_ALL_TYPES(TYPE, NAME, ...) AT_DISPATCH_SWITCH(TYPE, NAME, LIGHT_CASES_ALL(__VA_ARGS__))
#define AT_DISPATCH_ALL_TYPES_AND(A, TYPE, NAME, ...) AT_DISPATCH_SWITCH(TYPE, NAME, LIGHT_CASES_ALL(__VA_ARGS__) AT_DISPATCH_CASE(A, __VA_ARGS__))
#define AT_DISPATCH_ALL_TYPES_AND2(A, B, TYPE, NAME, ...) \
  AT_DISPATCH_SWITCH(TYPE, NAME, LIGHT_CASES_ALL(__VA_ARGS__) AT_DISPATCH_CASE(A, __VA_ARGS__) AT_DISPATCH_CASE(B, __VA_ARGS__))
#define AT_DISPATCH_ALL_TYPES_AND3(A, B, C, TYPE, NAME, ...) \
  AT_DISPATCH_SWITCH(TYPE, NAME, LIGHT_CASES_ALL(__VA_ARGS__) AT_DISPATCH_CASE(A, __VA_ARGS__) AT_DISPATCH_CASE(B, __VA_ARGS__) AT_DISPATCH_CASE(C, __VA_ARGS__))
#define AT_DISPATCH_INDEX_TYPES(TYPE, NAME, ...)                                                      \
  AT_DISPATCH_SWITCH(TYPE, NAME, AT_PRIVATE_CASE_TYPE_USING_HINT(::c10::ScalarType::Int, index_t, __VA_ARGS__) \
                                     AT_PRIVATE_CASE_TYPE_USING_HINT(::c10::ScalarType::Long, index_t, __VA_ARGS__))

// AT_DISPATCH_V2: a block of code for each of the types that are listed behind it.
#pragma once
#include "light/everything.h"

#define AT_WRAP(...) __VA_ARGS__
#define AT_EXPAND(X) X
#define AT_FLOATING_TYPES c10::ScalarType::Double, c10::ScalarType::Float
#define AT_INTEGRAL_TYPES c10::ScalarType::Byte, c10::ScalarType::Char, c10::ScalarType::Int, c10::ScalarType::Long, c10::ScalarType::Short
#define AT_ALL_TYPES AT_EXPAND(AT_INTEGRAL_TYPES), AT_EXPAND(AT_FLOATING_TYPES)

#define LIGHT_V2_COUNT_(_1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12, _13, _14, _15, _16, N, ...) N
#define LIGHT_V2_COUNT(...) LIGHT_V2_COUNT_(__VA_ARGS__, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)
#define LIGHT_V2_JOIN_(a, b) a##b
#define LIGHT_V2_JOIN(a, b) LIGHT_V2_JOIN_(a, b)
#define LIGHT_V2_CALL(M, ...) M(__VA_ARGS__)
#define LIGHT_V2_1(B, T) AT_DISPATCH_CASE(T, LIGHT_V2_BODY B)
#define LIGHT_V2_2(B, T, ...) AT_DISPATCH_CASE(T, LIGHT_V2_BODY B) LIGHT_V2_1(B, __VA_ARGS__)
#define LIGHT_V2_3(B, T, ...) AT_DISPATCH_CASE(T, LIGHT_V2_BODY B) LIGHT_V2_2(B, __VA_ARGS__)
#define LIGHT_V2_4(B, T, ...) AT_DISPATCH_CASE(T, LIGHT_V2_BODY B) LIGHT_V2_3(B, __VA_ARGS__)
#define LIGHT_V2_5(B, T, ...) AT_DISPATCH_CASE(T, LIGHT_V2_BODY B) LIGHT_V2_4(B, __VA_ARGS__)
#define LIGHT_V2_6(B, T, ...) AT_DISPATCH_CASE(T, LIGHT_V2_BODY B) LIGHT_V2_5(B, __VA_ARGS__)
#define LIGHT_V2_7(B, T, ...) AT_DISPATCH_CASE(T, LIGHT_V2_BODY B) LIGHT_V2_6(B, __VA_ARGS__)
#define LIGHT_V2_8(B, T, ...) AT_DISPATCH_CASE(T, LIGHT_V2_BODY B) LIGHT_V2_7(B, __VA_ARGS__)
#define LIGHT_V2_9(B, T, ...) AT_DISPATCH_CASE(T, LIGHT_V2_BODY B) LIGHT_V2_8(B, __VA_ARGS__)
#define LIGHT_V2_10(B, T, ...) AT_DISPATCH_CASE(T, LIGHT_V2_BODY B) LIGHT_V2_9(B, __VA_ARGS__)
#define LIGHT_V2_11(B, T, ...) AT_DISPATCH_CASE(T, LIGHT_V2_BODY B) LIGHT_V2_10(B, __VA_ARGS__)
#define LIGHT_V2_12(B, T, ...) AT_DISPATCH_CASE(T, LIGHT_V2_BODY B) LIGHT_V2_11(B, __VA_ARGS__)
#define LIGHT_V2_13(B, T, ...) AT_DISPATCH_CASE(T, LIGHT_V2_BODY B) LIGHT_V2_12(B, __VA_ARGS__)
#define LIGHT_V2_14(B, T, ...) AT_DISPATCH_CASE(T, LIGHT_V2_BODY B) LIGHT_V2_13(B, __VA_ARGS__)
#define LIGHT_V2_15(B, T, ...) AT_DISPATCH_CASE(T, LIGHT_V2_BODY B) LIGHT_V2_14(B, __VA_ARGS__)
#define LIGHT_V2_16(B, T, ...) AT_DISPATCH_CASE(T, LIGHT_V2_BODY B) LIGHT_V2_15(B, __VA_ARGS__)
#define LIGHT_V2_BODY(...) __VA_ARGS__
// The body goes along in brackets, for its commas.
#define LIGHT_V2(TYPE, NAME, BODY, ...) \
  AT_DISPATCH_SWITCH(TYPE, NAME, LIGHT_V2_CALL(LIGHT_V2_JOIN(LIGHT_V2_, LIGHT_V2_COUNT(__VA_ARGS__)), BODY, __VA_ARGS__))
#define AT_DISPATCH_V2(TYPE, NAME, BODY, ...) LIGHT_V2(TYPE, NAME, (BODY), __VA_ARGS__)

// The standard library under libcu++'s name for it: host and device are one here.
#pragma once
namespace cuda {
namespace std {
using namespace ::std;
}
}  // namespace cuda

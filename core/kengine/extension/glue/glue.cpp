// The glue library as one unit: compiled once for each machine and each release of torch.
#include "tensor.cpp"

#include "call.cpp"

#include "convert.cpp"

#include "bind.cpp"

// All that <torch/extension.h> means. The headers for streams and guards are separate, as torch's are.
#pragma once
#include "accessor.h"
#include "dispatch.h"
#include "functions.h"
#include "range.h"
#ifndef LIGHT_WITHOUT_PYTHON
#include "bind.h"
#endif

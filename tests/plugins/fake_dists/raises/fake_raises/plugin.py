raise RuntimeError("driver version 0 is not supported")

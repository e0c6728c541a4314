"""C++, CUDA and HIP under lint: tokens after the preprocessor, functions, names and calls. Nothing is compiled."""

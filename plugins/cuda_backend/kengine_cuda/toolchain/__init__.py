"""NVIDIA's compilers as they are installed here: NVRTC from pip or the toolkit, and nvcc."""

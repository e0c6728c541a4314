"""The modules that kernels import, for both generations."""

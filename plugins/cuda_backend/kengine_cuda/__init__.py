"""CUDA for kengine: real compiles for any chip, kernels on the SIMT emulator, and the local device.

Importing this package imports neither torch nor CuPy.
"""

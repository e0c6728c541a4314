"""HIP for kengine: real compiles for AMD chips from pip packages alone, and the SIMT emulator with 64 or 32 lanes.

Importing this package imports no compiler, no torch and no CuPy.
"""

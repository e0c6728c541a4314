"""What backends for C++ kernel languages (CUDA, HIP) share: candidate forms, launch blocks, calling, emulation.

- `forms.find_form` tells the forms of a candidate apart: Python with CuPy, Python with `load_inline`, a bare file with
  a launch block, a bare file whose entry is a host function.
- `block.read_recipe` reads a launch block; `expression` evaluates its arithmetic; `binding` gives its names values.
- `driver` says what loads and launches device code; `emulator` does it on the SIMT emulator; a backend adds its own
  for real devices, and one that only compiles.
- `session` loads a candidate over a driver and calls it in a mode; `cupy` is the facade that Python candidates import
  where there is no device, or no CuPy.
- `lines` leads from a line of a device source to the line of the candidate's file that it came from.

Importing this package imports neither torch nor numpy.
"""

"""Triton for kengine: real compiles for any chip, Triton's interpreter mended, and the local device.

Importing this package imports neither triton nor torch.
"""

"""Clocks and figures of a device, for whoever times on it: runners for candidates, the judge for the baseline.

Nothing here imports torch before a function is called.
"""

"""NKI for kengine: an interpreter that runs everywhere, and the Neuron tools where they are installed.

Importing this package imports neither numpy nor any package of the Neuron SDK.
"""

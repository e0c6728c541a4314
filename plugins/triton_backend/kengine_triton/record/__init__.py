"""Compiling what a host wrapper launches, with no device: the wrapper runs, a stub driver takes the launches."""

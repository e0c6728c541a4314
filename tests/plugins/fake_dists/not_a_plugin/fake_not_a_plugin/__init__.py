"""A fake distribution: not a plugin."""

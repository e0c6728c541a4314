"""A fake distribution: yielding."""

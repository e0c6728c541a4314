"""A fake distribution: observer."""

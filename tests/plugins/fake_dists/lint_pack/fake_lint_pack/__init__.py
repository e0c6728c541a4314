"""A fake distribution: lint pack."""

"""A fake distribution: default."""

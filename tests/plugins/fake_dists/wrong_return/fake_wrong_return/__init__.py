"""A fake distribution: wrong return."""

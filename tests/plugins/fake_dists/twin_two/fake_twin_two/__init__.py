"""A fake distribution: twin two."""

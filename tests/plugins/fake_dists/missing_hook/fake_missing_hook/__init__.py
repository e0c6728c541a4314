"""A fake distribution: missing hook."""

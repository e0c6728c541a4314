"""A fake distribution: slow import."""

"""A fake distribution: heavy import."""

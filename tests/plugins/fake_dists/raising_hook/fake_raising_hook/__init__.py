"""A fake distribution: raising hook."""

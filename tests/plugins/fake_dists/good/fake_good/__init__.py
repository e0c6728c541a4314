"""A fake distribution: good."""

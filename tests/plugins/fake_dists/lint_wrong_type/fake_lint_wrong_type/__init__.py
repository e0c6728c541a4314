"""A fake distribution: lint wrong type."""

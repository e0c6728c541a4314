"""A fake distribution: lint raises."""

"""A fake distribution: observer raises."""

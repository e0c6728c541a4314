"""A fake distribution: raises."""

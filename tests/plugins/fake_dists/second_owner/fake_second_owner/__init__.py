"""A fake distribution: second owner."""

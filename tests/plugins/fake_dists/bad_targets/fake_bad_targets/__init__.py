"""A fake distribution: bad targets."""

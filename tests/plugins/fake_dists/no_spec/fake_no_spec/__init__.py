"""A fake distribution: no spec."""

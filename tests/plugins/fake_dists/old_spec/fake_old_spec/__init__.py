"""A fake distribution: old spec."""

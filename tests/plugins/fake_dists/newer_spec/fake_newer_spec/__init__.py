"""A fake distribution: newer spec."""

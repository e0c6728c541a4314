"""A fake distribution: broken."""

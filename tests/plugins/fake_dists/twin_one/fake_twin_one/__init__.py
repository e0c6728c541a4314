"""A fake distribution: twin one."""

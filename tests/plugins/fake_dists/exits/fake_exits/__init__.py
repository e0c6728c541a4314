"""A fake distribution: exits."""

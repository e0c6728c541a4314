"""A fake distribution: wrong signature."""

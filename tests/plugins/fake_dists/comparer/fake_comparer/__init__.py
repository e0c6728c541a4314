"""A fake distribution: comparer."""

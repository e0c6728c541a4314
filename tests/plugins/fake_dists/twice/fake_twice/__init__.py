"""A fake distribution: twice."""

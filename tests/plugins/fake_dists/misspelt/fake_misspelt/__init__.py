"""A fake distribution: misspelt."""

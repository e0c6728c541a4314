"""A fake distribution: broken pack."""

"""A fake distribution: unmarked."""

"""Instructions, destination first; both generations' facades call these."""

"""kengine for Pallas, the kernel language of JAX: judged by its interpreter, lowered for real chips."""

"""The resident engine: one process a user that keeps what the hooks need again, and whatever it takes to live with it."""

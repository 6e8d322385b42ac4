"""The code operations: what the server, its client, MCP and the shim answer, and the server itself."""

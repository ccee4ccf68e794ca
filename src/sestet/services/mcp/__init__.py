"""MCP servers as sources of tools: started on first use, trusted by hash, called within limits."""

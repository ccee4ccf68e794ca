"""Conversations in an editor, over the Agent Client Protocol (ACP)."""

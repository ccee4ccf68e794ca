"""The agent frameworks: one module each, imported only where that framework is installed.

Each offers ``start(stage)``, an async context manager that yields a ``bench.script.Contestant``: the same
tree and the same scripted turn in the framework's own terms, in memory, with tracing and telemetry off.
If a framework lets the caller carry the conversation, the caller does, because that is the leanest way.
"""

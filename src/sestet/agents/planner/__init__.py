"""The planner's room: reasoning only, no tools."""

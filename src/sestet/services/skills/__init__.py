"""Skills: stored procedures in the SKILL.md convention, inert until the owner trusts their bytes."""

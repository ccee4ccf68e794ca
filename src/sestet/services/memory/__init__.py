"""The assistant's memory: what is observed, reflected on, recalled, corrected and forgotten."""

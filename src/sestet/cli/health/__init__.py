"""What ``sestet doctor`` looks at. Each check reports, whatever it finds, and lets the next one go on."""

"""How little a model has to read of a page, and what the browser costs, against Playwright."""

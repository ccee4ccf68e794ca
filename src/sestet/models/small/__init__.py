"""What a small model needs to make calls: a short prompt with examples, a grammar, and tolerant reading."""

"""One turn: from the person's message to a reply, a pause or a typed failure."""

"""What is printed, and how it is made harmless first."""

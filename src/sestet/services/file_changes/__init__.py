"""Changes of files that can be undone: planned, shown, recorded, made and taken back."""

"""The assistant's memory: observe, reflect, recall, correct, export."""

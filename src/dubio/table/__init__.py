"""From what people have to columns of numbers."""

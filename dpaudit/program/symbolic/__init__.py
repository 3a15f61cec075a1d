"""What does a program do, on every path? The symbolic reading."""

"""What a law is: base classes, functions, and the table of laws."""

"""What other libraries made, taken as if it were ours; nothing of them is imported here."""

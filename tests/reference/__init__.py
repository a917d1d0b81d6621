"""Independent plain-Python reference implementations, written from the rule texts alone, for differential tests."""

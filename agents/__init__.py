"""What plays: agents by their spec, matches between them, and the policies that training makes."""

"""What each loader, a library in a version, makes of a checkpoint."""

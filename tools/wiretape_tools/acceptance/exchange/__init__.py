"""Exchange with the files of other tools, made and read by the real ones."""

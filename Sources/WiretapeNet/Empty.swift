// Placeholder until the module has a file.

"""The Python behind the commands of tools/. Each command there is a few lines of bash that start a module of this package."""

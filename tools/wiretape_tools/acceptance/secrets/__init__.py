"""Thirty-three secrets of eleven kinds in every place of four protocols, said by real clients: where they turn up."""

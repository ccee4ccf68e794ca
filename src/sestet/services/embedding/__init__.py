"""Texts as vectors, so that a search finds equal meaning without equal words."""

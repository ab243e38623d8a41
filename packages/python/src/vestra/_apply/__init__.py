"""Applies a folder: uploads what a deployment file names beside it, as far as it has changed, and applies the file."""

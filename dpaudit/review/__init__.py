"""Does evidence say what is so? Checked, run again, or held beside earlier evidence."""

"""Is the claim to be believed? From a request to evidence."""

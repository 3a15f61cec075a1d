"""How does an object of another library become a mechanism, and how is its noise followed? One module a library."""

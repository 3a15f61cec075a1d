"""What was found, written down so that anyone can cite it and check it?"""

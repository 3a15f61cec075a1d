"""How is somebody's code run in a process of its own?"""

"""How is evidence said in words?"""

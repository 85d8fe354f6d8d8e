"""The one composition of the stages, for the command line, the graph and the library alike.

Load a recipe, plan it, build it, look at what is there. Each module is imported by its own name.
"""

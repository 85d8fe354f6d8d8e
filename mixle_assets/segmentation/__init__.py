"""Where words begin and end in any script, for the stages that count, hash or compare them.

Pure functions of a text; what is made of the words stands in the stages.
"""

"""Lines of broker logs -> what they prove of a group: who left and who was thrown out, who was
refused, who went silent. Standard library only.
"""

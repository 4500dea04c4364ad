"""Runs the Python functions of a project. The node sends these modules to an interpreter that has none of them: `boot.py`."""

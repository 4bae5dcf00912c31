"""The rules of the linter: a function each, with the rule in its name and the reason in its docstring."""

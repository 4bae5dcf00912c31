"""The rules of the linter, a function each: what is looked for stands in its name, why in its docstring."""

"""Action graphs: the node that Kit loads, a runner for graphs outside Kit, and a substitute for OmniGraph there."""

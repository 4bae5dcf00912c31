"""Joints and motors of robot files: inspected, checked, compared, and resolved against the applied values."""

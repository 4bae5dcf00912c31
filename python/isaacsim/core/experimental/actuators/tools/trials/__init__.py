"""Trials of robots: targets to follow, results, effort envelopes and step responses."""

"""Recordings of actuators, step by step: made while they run, saved, plotted and evaluated."""

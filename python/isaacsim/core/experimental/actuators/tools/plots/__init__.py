"""The style of all plots, and plots of plain numbers."""

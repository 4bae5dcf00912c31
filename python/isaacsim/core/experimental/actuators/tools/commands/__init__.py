"""The console command `actuators`: a file per subcommand, with results as tables or JSON."""

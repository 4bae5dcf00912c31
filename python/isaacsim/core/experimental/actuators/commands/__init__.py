"""The console command `actuators`: a file per subcommand, what they answer is shown as tables or as JSON."""

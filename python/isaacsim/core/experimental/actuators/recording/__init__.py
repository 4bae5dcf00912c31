"""What actuators did, step by step: noted while they run, kept, drawn and counted."""

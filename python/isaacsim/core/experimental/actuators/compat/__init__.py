"""APIs of other libraries on our engine, and conversion to newton; other libraries are not imported here."""

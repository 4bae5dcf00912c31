"""What is tested inside a running Kit; everything else is tested by pytest, outside."""

# Kit's test runner looks for modules of tests here
scan_for_test_modules = True

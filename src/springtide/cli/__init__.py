"""What people type: commands, options, tables and exit codes. It parses, prints and computes nothing.

Data goes to standard output, messages to standard error. Exit codes: 0 yes, 1 no, 2 usage or input,
3 cluster or server unreachable, 4 denied, 130 interrupted. What a command needs beyond options is imported when it runs, so that help answers
at once.
"""

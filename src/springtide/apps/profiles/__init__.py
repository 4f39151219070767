"""Device profiles at work: captured from nodes, checked against them, listed, and kept up to date.

`capture` and `checking` answer commands from an input; `written` and `report` are their answers.
`controller` keeps the status of the profiles of a live cluster: it follows them, has `performing` do what
`engine.profiles` wants done, and `figures` are its metrics.
"""

"""Formats: documents of others as our records, and back. No I/O, and no opinion.

`documents` reads whole sources, JSON or YAML, and routes every object by its kind; `yaml` reads
scalars as kubectl does; `k8s` turns API objects into model records, fast and one by one where one is
broken; `crd` reads our own documents strictly, naming the unknown field and the nearest known one;
`hami` speaks the annotations of HAMi; `trace` reads the CSV files of a public GPU trace. What is broken
becomes a `Problem` or a fault that says where.
"""

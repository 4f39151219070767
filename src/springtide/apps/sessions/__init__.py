"""The simulation service without its transport: bytes of calls to bytes of answers."""

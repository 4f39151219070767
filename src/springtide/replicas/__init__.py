"""What a stateful service embeds to know how many replicas are wanted, and which of them serve."""

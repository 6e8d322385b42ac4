"""The hooks' surface: a payload on standard input, one JSON object or nothing on standard output."""

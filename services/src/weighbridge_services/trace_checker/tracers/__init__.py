"""The tracers that come along: one that looks at the form alone, and one that says what a person dictated."""

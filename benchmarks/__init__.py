"""Speed, side by side with the tools people use today; nothing of the package imports this."""

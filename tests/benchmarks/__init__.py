"""Numbers, not pass marks: each benchmark measures a floor and the product in one run."""

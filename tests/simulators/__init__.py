"""Forges that answer over HTTP on the loopback interface, for tests and benchmarks."""

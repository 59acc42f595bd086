"""`python -m tests.benchmarks`: all of them, one after the other."""

from tests.benchmarks import calls, pages, quiet, starts, sweeps

for benchmark in (pages, calls, starts, sweeps, quiet):
    benchmark.main()

"""`python -m tests.benchmarks`: all of them, one after the other."""

from tests.benchmarks import calls, pages, quiet, records, starts, sweeps

for benchmark in (pages, calls, records, starts, sweeps, quiet):
    benchmark.main()

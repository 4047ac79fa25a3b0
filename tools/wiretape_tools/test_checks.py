"""Runs the tests of the checks in tools/: `tools/wiretape_tools/start test_checks`."""

import sys
import unittest

from wiretape_tools import test_cycles, test_graph, test_lanes

if __name__ == "__main__":
    suite = unittest.TestSuite(unittest.defaultTestLoader.loadTestsFromModule(one) for one in (test_cycles, test_graph, test_lanes))
    sys.exit(0 if unittest.TextTestRunner(verbosity=1).run(suite).wasSuccessful() else 1)

"""Tests of the tables of tools/wiretape_tools/lanes.py: python3 -m unittest wiretape_tools.test_lanes (in tools/)."""

import unittest

from wiretape_tools import lanes, nightly


class LaneTests(unittest.TestCase):
    def test_tables_fit_this_checkout(self) -> None:
        lanes.check_tables()

    def test_every_module_calls_for_a_step(self) -> None:
        for module in lanes.TESTS:
            if module.startswith("Wiretape"):
                self.assertTrue(lanes.steps_for([f"Sources/{module}/A.swift"]), module)

    def test_a_change_calls_for_the_steps_of_its_module(self) -> None:
        steps = lanes.steps_for(["Sources/WiretapeTLS/TLSMachine.swift"])
        self.assertIn("tls", steps)
        self.assertNotIn("sweep", steps)

    def test_a_script_calls_for_its_own_step(self) -> None:
        self.assertEqual(list(lanes.steps_for(["tools/wiretape_tools/acceptance/faults_cost.py"])), ["faults-cost"])
        self.assertEqual(list(lanes.steps_for(["tools/acceptance/faults"])), ["faults"])

    def test_a_page_for_users_calls_for_no_step(self) -> None:
        self.assertEqual(lanes.steps_for(["docs/guide.md"]), {})
        self.assertEqual(lanes.tests_for(["docs/guide.md"])[0], ["WiretapeCommandTests", "WiretapeFaultsTests", "WiretapeReplayTests"])


class NightlyTests(unittest.TestCase):
    def outcome(self, command: str, **more: object) -> nightly.Outcome:
        nightly.WORK.mkdir(parents=True, exist_ok=True)
        return nightly.run(lanes.Step("test-of-nightly", "", command, 0, **more))  # type: ignore[arg-type]

    def test_tells_the_four_ends_apart(self) -> None:
        self.assertEqual(self.outcome("echo well").state, "passed")
        self.assertEqual(self.outcome("echo FAILED: this; exit 1").state, "failed")
        self.assertEqual(self.outcome("echo page: skipped, no browser; exit 77").state, "skipped")
        self.assertEqual(self.outcome("echo skipped tshark: it is not here; echo well").state, "partly")

    def test_a_missing_program_is_named_and_not_passed(self) -> None:
        outcome = self.outcome("true", needs=("no-such-program:",))
        self.assertEqual((outcome.state, outcome.text), ("skipped", "no-such-program is not installed"))


if __name__ == "__main__":
    unittest.main()

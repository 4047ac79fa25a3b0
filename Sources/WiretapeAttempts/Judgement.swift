/// The verdict on one policy for one session.
package struct Judgement: Hashable, Sendable {
    package var policy: String
    /// 0 when the run as a whole is judged, or when no session could be judged.
    package var session: Int
    package var run: Int
    package var met: Bool
    /// False: nothing could be held to the policy, which is not met then.
    package var isJudged = true
    package var expected: String
    package var actual: String
    /// Why it is not met or not judged; empty when it is met.
    package var reason: String

    package init(
        policy: String, session: Int, run: Int, met: Bool, isJudged: Bool = true, expected: String, actual: String,
        reason: String
    ) {
        self.policy = policy
        self.session = session
        self.run = run
        self.met = met
        self.isJudged = isJudged
        self.expected = expected
        self.actual = actual
        self.reason = reason
    }

    /// `met`, `not met`, `not judged`.
    package var word: String { met ? "met" : isJudged ? "not met" : "not judged" }
}

/// The verdict on one policy for one session.
package struct Judgement: Hashable, Sendable {
    package var policy: String
    /// 0 when no session could be judged.
    package var session: Int
    package var run: Int
    package var met: Bool
    /// False: nothing could be held to the policy, which is not met then.
    package var isJudged = true
    package var expected: String
    package var actual: String
    /// Why it is not met or not judged; empty when it is met.
    package var reason: String

    /// `met`, `not met`, `not judged`.
    package var word: String { met ? "met" : isJudged ? "not met" : "not judged" }
}

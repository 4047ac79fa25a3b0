/// The verdict on one policy for one session.
package struct Judgement: Hashable, Sendable {
    package var policy: String
    /// 0 when no session could be judged.
    package var session: Int
    package var run: Int
    package var met: Bool
    package var expected: String
    package var actual: String
    /// Why it is not met; empty when it is.
    package var reason: String
}

/// A rule that fires.
package struct FaultHit: Hashable, Sendable {
    /// Index into the plan's rules.
    package var rule: Int
    package var name: String
    package var place: Place
    package var action: FaultAction
    /// The message's ordinal among those of its direction; nil for requests.
    package var message: Int?
}

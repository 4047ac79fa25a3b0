internal import WiretapeBytes

/// A moment of a connection that a rule of the point `time` waits for.
struct LiveMoment {
    /// Index into the moments that rules name.
    var rule: Int
    var carrier: LiveCarrier
    var due: WireInstant
}

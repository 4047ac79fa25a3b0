internal import WiretapeBytes
internal import WiretapeRuntime

/// The one timer of a connection, set for the first of all that waits for time.
struct WakeTimer {
    private var timer: (any LoopTimer)?
    private var moment: WireInstant?

    /// Whether it is going to fire.
    var isSet: Bool { moment != nil }

    /// - Parameter moment: when something is due; nil: nothing is.
    mutating func set(for moment: WireInstant?, on loop: any Loop, _ fired: @escaping () -> Void) {
        self.moment = moment
        guard let moment else {
            timer?.cancel()
            return
        }
        if timer == nil { timer = loop.timer(fired) }
        timer?.arm(at: moment)
    }

    /// It has fired.
    mutating func fires() { moment = nil }

    mutating func close() {
        timer?.close()
        timer = nil
        moment = nil
    }
}

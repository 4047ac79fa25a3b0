extension SessionRun {
    /// The first client message that must still come.
    var firstAwaitedStep: Int? {
        firstAwaited < script.toServer.count ? script.toServer[firstAwaited] : nil
    }

    /// When the client's time is up: patience after the recorded gap before the first awaited message has passed. Nil when
    /// nothing is awaited or the session has no connection.
    func deadline(_ options: ReplayOptions) -> WireInstant? {
        guard failure == nil, let link, !link.isCut else { return nil }
        guard let awaited = firstAwaitedStep else { return nil }
        let before = awaited > 0 ? script.steps[awaited - 1].time : script.opened
        let gap = scaled(from: before, to: script.steps[awaited].time, options.speed)
        return max(lastProgress, link.openedAt).advanced(by: gap).advanced(by: options.patience)
    }

    /// The awaited messages that hold back the script's next step; all that are awaited when nothing is held back.
    var blockers: [Int] {
        let held = head < script.toClient.count ? script.toClient[head] : Int.max
        let all = script.toServer[firstAwaited...].filter { state[$0] == .waiting && !script.steps[$0].optional }
        let before = all.filter { $0 < held }
        return before.isEmpty ? all : before
    }
}

internal import WiretapeFaults
internal import WiretapeMessages
internal import WiretapeProtocol

extension SessionRun {
    /// What may still leave under `--speed step`, or while the session is paused.
    enum Allowance: Hashable, Sendable {
        case steps(Int)
        /// Everything up to the first message that the selector means, this one included.
        case until(Selector)
        /// All of it, as soon as it is due.
        case all
    }

    /// Whether the step may leave as far as stepping goes. The protocol's handshake always may: without it there is no
    /// connection to step through.
    func mayLeave(_ step: Int, _ options: ReplayOptions) -> Bool {
        guard isStepped(options), script.steps[step].role != .handshake else { return true }
        switch allowance {
        case .steps(let left): return left > 0
        case .until, .all: return true
        case nil: return false
        }
    }

    /// Whether its messages leave one by one, as somebody lets them.
    func isStepped(_ options: ReplayOptions) -> Bool {
        switch allowance {
        case .steps, .until: true
        case .all: false
        case nil: options.speed == .step
        }
    }
}

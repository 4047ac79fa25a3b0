internal import WiretapeFaults
internal import WiretapeProtocol

extension SessionRun {
    /// What may still leave under `--speed step`.
    enum Allowance: Hashable, Sendable {
        case steps(Int)
        /// Everything up to the first message that the selector means, this one included.
        case until(Selector)
    }

    /// Whether the step may leave as far as stepping goes. The protocol's handshake always may: without it there is no
    /// connection to step through.
    func mayLeave(_ step: Int, _ options: ReplayOptions) -> Bool {
        guard options.speed == .step, script.steps[step].role != .handshake else { return true }
        switch allowance {
        case .steps(let left): return left > 0
        case .until: return true
        }
    }

    /// The step left.
    func spend(_ step: Int) {
        guard script.steps[step].role != .handshake else { return }
        switch allowance {
        case .steps(let left): allowance = .steps(max(0, left - 1))
        case .until(let selector):
            // An ending is the end of what can be waited for.
            if script.message(step).map({ selector.matches($0) }) ?? true { allowance = .steps(0) }
        }
    }
}

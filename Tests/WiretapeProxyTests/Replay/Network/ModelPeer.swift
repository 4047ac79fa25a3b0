import WiretapeBytes
import WiretapeRuntime
import WiretapeSimulation

/// A ``ModelClient`` on the simulated network: its slots are connections, its time is that of a clock.
final class ModelPeer {
    let client: ModelClient
    private let loop: SimulatedLoop
    private let address: Address
    /// The client's time; nil: the loop's, which then wakes it.
    private let clock: (() -> WireInstant)?
    private var slots: [Int: ClientSlot] = [:]
    private var timer: (any LoopTimer)?

    init(_ client: ModelClient, _ loop: SimulatedLoop, _ address: Address, clock: (() -> WireInstant)? = nil) {
        self.client = client
        self.loop = loop
        self.address = address
        self.clock = clock
        timer = loop.timer { [unowned self] in wake() }
        arm()
    }

    private var now: WireInstant { clock?() ?? loop.now }

    /// Does what is due at its time.
    func wake() {
        var out: [ClientAction] = []
        client.wake(at: now, into: &out)
        act(out)
    }

    func close() {
        timer?.close()
        timer = nil
        for slot in slots.values { slot.end(reset: true) }
    }

    private func hear(_ event: ClientEvent) {
        var out: [ClientAction] = []
        client.hear(event, at: now, into: &out)
        act(out)
    }

    private func act(_ actions: [ClientAction]) {
        for action in actions {
            let slot = slots[action.slot] ?? open(action.slot)
            switch action {
            case .request(_, let head, let body, _): slot.request(head, body: body)
            case .message(_, let opcode, let bytes, _): slot.send(opcode, bytes)
            case .closeFrame(_, let code): slot.sendClose(code)
            case .end(_, let reset): slot.end(reset: reset)
            }
        }
        arm()
    }

    private func open(_ number: Int) -> ClientSlot {
        let slot = ClientSlot(loop, to: address, number) { [unowned self] in hear($0) }
        slots[number] = slot
        return slot
    }

    private func arm() {
        guard clock == nil else { return }
        if let next = client.nextWake { timer?.arm(at: max(next, loop.now)) } else { timer?.cancel() }
    }
}

import WiretapeBytes
import WiretapeRuntime

/// One end of a planned connection: does its steps in order and keeps what it gets.
final class PlannedPeer: StreamHandler {
    struct Step {
        enum Action {
            case send([UInt8])
            /// Does not read for so many nanoseconds.
            case pause(UInt64)
            case end
            case endAfterOther
            case reset
        }

        var action: Action
        var whenReceived: Int
        var delay: UInt64

        init(_ action: Action, whenReceived: Int, delay: UInt64) {
            self.action = action
            self.whenReceived = whenReceived
            self.delay = delay
        }
    }

    private let loop: any Loop
    private var steps: [Step]
    private var next = 0
    private var isWaiting = false
    private var timers: [any LoopTimer] = []
    private var stream: (any ByteStream)?
    private(set) var received: [UInt8] = []
    private(set) var sawEnd = false
    private(set) var end: StreamEnd?
    private(set) var callsAfterEnd = 0

    init(_ loop: any Loop, _ steps: [Step]) {
        self.loop = loop
        self.steps = steps
    }

    /// Takes a stream that is connected already, and what was read from it.
    func take(_ stream: any ByteStream, _ bytes: [UInt8]) {
        self.stream = stream
        received = bytes
        connected()
    }

    func connecting(_ stream: any ByteStream) { self.stream = stream }

    func abort() { stream?.reset() }

    // MARK: StreamHandler

    func connected() {
        if end != nil { callsAfterEnd += 1 }
        stream?.isReading = true
        goOn()
    }

    func received(_ bytes: Span<UInt8>) {
        if end != nil { callsAfterEnd += 1 }
        received.append(copying: bytes)
        goOn()
    }

    func receivedEnd() {
        if end != nil { callsAfterEnd += 1 }
        sawEnd = true
        goOn()
    }

    func drained() { if end != nil { callsAfterEnd += 1 } }

    func ended(_ how: StreamEnd) {
        if end != nil { callsAfterEnd += 1 }
        end = how
        stream = nil
        for timer in timers { timer.close() }
        timers = []
    }

    // MARK: Steps

    private func goOn() {
        while end == nil, !isWaiting, next < steps.count, isDue(steps[next]) {
            let step = steps[next]
            if step.delay > 0 {
                steps[next].delay = 0
                isWaiting = true
                after(step.delay) { [self] in
                    isWaiting = false
                    goOn()
                }
            } else {
                next += 1
                run(step.action)
            }
        }
    }

    private func isDue(_ step: Step) -> Bool {
        // Who has heard the other's end will not hear more: it says what it has to say.
        guard received.count >= step.whenReceived || sawEnd else { return false }
        if case .endAfterOther = step.action { return sawEnd }
        return true
    }

    private func run(_ action: Step.Action) {
        switch action {
        case .send(let bytes): stream?.write(bytes.span)
        case .pause(let nanoseconds):
            guard !sawEnd else { return }
            stream?.isReading = false
            after(nanoseconds) { [self] in stream?.isReading = true }
        case .end, .endAfterOther: stream?.halfClose()
        case .reset: stream?.reset()
        }
    }

    private func after(_ nanoseconds: UInt64, _ body: @escaping () -> Void) {
        let timer = loop.timer(body)
        timers.append(timer)
        timer.arm(at: loop.now.advanced(by: nanoseconds))
    }
}

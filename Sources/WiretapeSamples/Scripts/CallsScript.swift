internal import WiretapeBytes
package import WiretapeRuntime
internal import WiretapeWire

/// A client's application that calls every way there is, without waiting for one answer before the next call: concurrent
/// invocations, a stream, an upload, a result for the server. Its calls follow a timetable of its own.
package final class CallsScript {
    private let client: HubClient
    private let loop: any Loop
    /// Nanoseconds between two steps.
    private let think: UInt64
    private let report: (String) -> Void
    private let ended: (Bool) -> Void
    private var timer: (any LoopTimer)?
    private var next = 0
    private var open = 0
    private var sum: HubCall?
    private var failures = 0
    private var isDone = false

    /// - Parameters:
    ///   - think: nanoseconds between two steps of the script.
    ///   - observe: told everything that the application sees, and `report` what its calls came to.
    ///   - ended: once; whether all calls were answered.
    package init(
        _ client: HubClient, _ loop: any Loop, think: UInt64, observe: @escaping (HubEvent) -> Void,
        report: @escaping (String) -> Void, ended: @escaping (Bool) -> Void
    ) {
        self.client = client
        self.loop = loop
        self.think = think
        self.report = report
        self.ended = ended
        client.answer = { target, arguments in
            target == "ClientResult" ? .string("\(arguments.first?.string ?? "")? ada") : nil
        }
        timer = loop.timer { [weak self] in self?.step() }
        client.observe = { [self] event in
            observe(event)
            switch event {
            case .connected: timer?.arm(at: loop.now.advanced(by: think))
            case .lost(let reason): stop("connection lost: \(reason)")
            case .closed(let reason): stop(reason)
            case .invocation, .retrying, .retryFailed, .reconnected: break
            }
        }
    }

    /// The timetable: one step each `think`, whatever has been answered.
    private func step() {
        defer { next += 1 }
        switch next {
        case 0:
            call("Echo", [.string("one")])
            call("Add", [.number(2), .number(3)])
            call("SendMessage", [.string("ada"), .string("hello")])
        case 1:
            open += 1
            client.stream("Counter", [.number(5), .number(10)]) { [self] item in
                report("Counter \(item.text)")
            } _: { [self] result in
                answered("Counter", result)
            }
        case 2:
            open += 1
            sum = client.invoke("Sum", [], uploads: 1) { [self] result in answered("Sum", result) }
        case 3: call("AskBack", [.string("your name")])
        case 4...7: upload(.number(next))
        case 8:
            call("Echo", [.string("two")])
            call("Slow", [.number(30), .string("late")])
        case 9: if let stream = sum?.uploads.first { client.endUpload(stream) }
        case 10: call("Burst", [.number(3), .string("x")])
        default: return check()
        }
        timer?.arm(at: loop.now.advanced(by: think))
    }

    private func upload(_ item: JSONValue) {
        if let stream = sum?.uploads.first { client.upload(item, to: stream) }
    }

    private func call(_ target: String, _ arguments: [JSONValue]) {
        open += 1
        client.invoke(target, arguments) { [self] result in answered(target, result) }
    }

    private func answered(_ target: String, _ result: HubResult) {
        open -= 1
        switch result {
        case .value(let value): report("\(target) \(value?.text ?? "done")")
        case .error(let text):
            failures += 1
            report("\(target) failed: \(text)")
        }
        check()
    }

    private func check() {
        guard next > 10, open == 0, !isDone else { return }
        finish(failures == 0)
        client.stop()
    }

    private func stop(_ reason: String?) {
        finish(false)
        // Out of its own call: the script and the client hold each other until here.
        client.stop()
        client.observe = { _ in }
    }

    private func finish(_ reached: Bool) {
        guard !isDone else { return }
        isDone = true
        timer?.close()
        timer = nil
        ended(reached)
    }
}

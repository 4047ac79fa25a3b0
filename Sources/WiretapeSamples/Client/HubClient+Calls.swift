package import WiretapeWire

/// Calls in both directions.
extension HubClient {
    /// Calls a method and waits for its result. Ids count from 0, those of uploads first, as @microsoft/signalr does.
    /// - Parameter uploads: how many streams the caller sends with it.
    /// - Returns: nil when there is no connection; `done` is told the error then.
    @discardableResult
    package func invoke(
        _ target: String, _ arguments: [JSONValue], uploads: Int = 0, _ done: @escaping (HubResult) -> Void
    ) -> HubCall? {
        call(uploads, PendingCall(item: nil, done: done)) { id, streams in
            .invocation(id: id, target: target, arguments: arguments, streams: streams)
        }
    }

    /// Calls a method that answers with a stream.
    @discardableResult
    package func stream(
        _ target: String, _ arguments: [JSONValue], item: @escaping (JSONValue) -> Void,
        _ done: @escaping (HubResult) -> Void
    ) -> HubCall? {
        call(0, PendingCall(item: item, done: done)) { id, streams in
            .streamInvocation(id: id, target: target, arguments: arguments, streams: streams)
        }
    }

    /// Sends an item of an upload.
    package func upload(_ item: JSONValue, to stream: String) {
        guard isConnected else { return }
        send([.streamItem(id: stream, item: item)])
    }

    /// Ends an upload.
    package func endUpload(_ stream: String, error: String? = nil) {
        guard isConnected else { return }
        send([.completion(id: stream, error.map { .error($0) } ?? .value(nil))])
    }

    private func call(_ uploads: Int, _ pending: PendingCall, _ message: (String, [String]) -> HubMessage) -> HubCall? {
        guard isConnected else {
            pending.done(.error("not connected"))
            return nil
        }
        let streams = (0..<uploads).map { _ in takeID() }
        let id = takeID()
        self.pending[id] = pending
        send([message(id, streams)])
        return HubCall(uploads: streams)
    }

    private func takeID() -> String {
        defer { nextID += 1 }
        return String(nextID)
    }

    func failPending(_ reason: String) {
        let ids = pending.keys.sorted { $0.utf8.count == $1.utf8.count ? $0 < $1 : $0.utf8.count < $1.utf8.count }
        for id in ids { pending.removeValue(forKey: id)?.done(.error(reason)) }
    }

    func handle(_ message: HubMessage) {
        switch message {
        case .invocation(let id, let target, let arguments, _):
            observe(.invocation(target: target, arguments: arguments))
            guard let id, isConnected else { return }
            let result: HubResult =
                answer(target, arguments).map { .value($0) } ?? .error("Client didn't provide a result.")
            send([.completion(id: id, result)])
        case .streamItem(let id, let item): pending[id]?.item?(item)
        case .completion(let id, let result): pending.removeValue(forKey: id)?.done(result)
        case .close(let error, let allowReconnect):
            connection?.close()
            let reason = error ?? "server closed the connection"
            if allowReconnect { lost(reason) } else { finish(reason) }
        case .ping, .streamInvocation, .cancel, .other: break
        }
    }
}

/// A running call, for sending the items of the streams that it uploads.
package struct HubCall: Hashable, Sendable {
    /// Ids of the streams that the caller sends with it, in the order of the method's parameters.
    package let uploads: [String]
}

/// A call that waits for its completion.
struct PendingCall {
    /// Nil for a call that wants no stream.
    var item: ((JSONValue) -> Void)?
    var done: (HubResult) -> Void
}

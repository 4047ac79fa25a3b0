import Foundation

/// A member of a chat: SignalR's JSON protocol over a WebSocket, or over long polling where there is none.
///
/// It comes back when it loses its connection, says again what nobody has acknowledged, shows each message once, renews its token when
/// the hub refuses it, and notices a connection that is silent.
public actor ChatClient {
    public struct Settings: Sendable {
        /// How long to wait before each try to come back; when all are used up, it gives up.
        public var delays: [Duration] = [.zero, .seconds(2), .seconds(10), .seconds(30)]
        /// How often to ask a silent hub for a sign of life. Without one until the next time, the connection is lost.
        public var ping: Duration = .seconds(15)
        /// Gives a token, a new one each time.
        public var token: (@Sendable () async -> String)?
        /// How to wait.
        public var sleep: @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }

        public init() {}
    }

    /// The server wants this client to stay away.
    public struct Banned: Error {}

    /// All tries to come back have failed.
    public struct Unreachable: Error {}

    /// What ends each message of SignalR.
    private static let end = "\u{1e}"
    /// The code with which the hub bans somebody.
    private static let ban = 4001

    private let url: String
    private let settings: Settings
    private let onMessage: @Sendable (String, String) async -> Void
    private var token: String?
    private var transport: (any Transport)?
    private var lastID = -1
    private var unacknowledged: [(id: String, text: String, done: CheckedContinuation<Void, any Error>)] = []
    private var isLeaving = false

    /// - Parameters:
    ///   - url: of the hub: `http://127.0.0.1:5000/hub`.
    ///   - onMessage: called for every message, in order: who said it, and what.
    public init(
        url: String, settings: Settings = Settings(), onMessage: @escaping @Sendable (String, String) async -> Void
    ) {
        self.url = url
        self.settings = settings
        self.onMessage = onMessage
    }

    /// Stays connected until ``leave()``, or until the task is cancelled.
    /// - Throws: ``Banned``, or ``Unreachable`` when all delays are used up.
    public func run() async throws {
        var delays = settings.delays[...]
        var hasNewToken = false
        while !isLeaving {
            do {
                try Task.checkCancellation()
                let transport = try await open()
                delays = settings.delays[...]
                hasNewToken = false
                try await talk(over: transport)
            } catch let closed as Closed where closed.code == Self.ban {
                forget(Banned())
                throw Banned()
            } catch is CancellationError {
                transport?.hangUp()
                throw CancellationError()
            } catch let refused as Refused where refused.status == 401 && settings.token != nil && !hasNewToken {
                // A token that was refused is not shown again; a new one deserves a try at once.
                token = nil
                hasNewToken = true
                continue
            } catch {
                // The next delay is the longer one.
            }
            transport?.hangUp()
            transport = nil
            if isLeaving { return }
            guard let delay = delays.popFirst() else {
                forget(Unreachable())
                throw Unreachable()
            }
            if delay > .zero { try await settings.sleep(delay) }
        }
    }

    /// Returns when the hub has acknowledged it, on this connection or on a later one.
    public func say(_ who: String, _ text: String) async throws {
        lastID += 1
        let id = "\(lastID)"
        let call: [String: Any] = ["type": 1, "invocationId": id, "target": "SendMessage", "arguments": [who, text]]
        let json = String(decoding: try JSONSerialization.data(withJSONObject: call), as: UTF8.self) + Self.end
        try await withCheckedThrowingContinuation { done in
            unacknowledged.append((id, json, done))
            // What cannot be sent is said again on the next connection.
            if let transport { Task { try? await transport.send(json) } }
        }
    }

    /// Ends the connection in order.
    public func leave() async {
        isLeaving = true
        if let transport {
            try? await transport.send("{\"type\":7}" + Self.end)
            await transport.close()
        }
    }

    private func forget(_ error: any Error) {
        for one in unacknowledged { one.done.resume(throwing: error) }
        unacknowledged = []
    }

    // MARK: Connecting

    private func open() async throws -> any Transport {
        let hub = try HubAddress(url)
        if token == nil { token = await settings.token?() }
        let answer = try await hub.request("POST", "\(hub.path)/negotiate?negotiateVersion=1", token: token)
        guard answer.status == 200 else { throw Refused(status: answer.status) }
        guard let offer = try JSONSerialization.jsonObject(with: Data(answer.body.utf8)) as? [String: Any],
            let id = offer["connectionToken"] as? String
        else { throw ConnectionLost("the hub's answer to negotiate says nothing") }
        let offered = (offer["availableTransports"] as? [[String: Any]] ?? []).compactMap { $0["transport"] as? String }
        let target = "\(hub.path)?id=\(id)"
        if offered.contains("WebSockets") {
            do {
                return try await shakeHands(WebSocket.open(hub, target, token: token))
            } catch let refused as Refused where refused.status != 401 && offered.contains("LongPolling") {
                // A proxy on the way that knows no WebSockets.
            }
        }
        guard offered.contains("LongPolling") else { throw ConnectionLost("the hub offers \(offered)") }
        return try await shakeHands(LongPolling.open(hub, target, token: token))
    }

    private func shakeHands(_ transport: any Transport) async throws -> any Transport {
        try await transport.send("{\"protocol\":\"json\",\"version\":1}" + Self.end)
        return transport
    }

    // MARK: Talking

    private func talk(over transport: any Transport) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await self.listen(to: transport) }
            group.addTask { try await self.watch(transport) }
            defer {
                transport.hangUp()
                group.cancelAll()
            }
            // A task that is cancelled hears no more, and that is no error of the stream.
            try await group.next()
            try Task.checkCancellation()
        }
    }

    private func listen(to transport: any Transport) async throws {
        var isReady = false
        var text = ""
        for try await piece in transport.texts {
            text += piece
            while let end = text.firstRange(of: Self.end) {
                let message = try JSONSerialization.jsonObject(with: Data(text[..<end.lowerBound].utf8)) as? [String: Any] ?? [:]
                text.removeSubrange(..<end.upperBound)
                if isReady {
                    await take(message)
                } else {
                    guard message["error"] == nil else { throw ConnectionLost("\(message["error"] ?? "")") }
                    isReady = true
                    self.transport = transport
                    for one in unacknowledged { try await transport.send(one.text) }
                }
            }
        }
    }

    private func take(_ message: [String: Any]) async {
        switch message["type"] as? Int {
        case 1:
            guard message["target"] as? String == "ReceiveMessage", let arguments = message["arguments"] as? [String],
                arguments.count == 2
            else { return }
            await onMessage(arguments[0], arguments[1])
        case 3:
            // One that comes a second time is nobody's.
            guard let i = unacknowledged.firstIndex(where: { $0.id == message["invocationId"] as? String }) else { return }
            unacknowledged.remove(at: i).done.resume()
        default: break
        }
    }

    /// Throws when the hub is silent, though it was asked for a sign of life.
    private func watch(_ transport: any Transport) async throws {
        while true {
            let before = transport.signs
            try await settings.sleep(settings.ping)
            if transport.signs > before { continue }
            try await transport.ping()
            try await settings.sleep(settings.ping)
            if transport.signs == before { throw ConnectionLost("the hub is silent") }
        }
    }
}

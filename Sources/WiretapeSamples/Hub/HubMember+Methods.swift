internal import WiretapeBytes
internal import WiretapeWire

/// The hub's methods.
extension HubMember {
    func handle(_ message: HubMessage) {
        switch message {
        case .invocation(let id, let target, let arguments, let streams): call(id, target, arguments, streams)
        case .streamInvocation(let id, let target, let arguments, _): stream(id, target, arguments)
        case .streamItem(let id, let item):
            guard let number = item.int else { return }
            uploads[id]?.sum &+= number
        case .completion(let id, let result):
            if let upload = uploads.removeValue(forKey: id) {
                endUpload(upload, result)
            } else {
                asked.removeValue(forKey: id)?(result)
            }
        case .cancel(let id):
            if running.remove(id) != nil { send(.completion(id: id, .value(nil))) }
        case .close:
            close()
        case .ping, .other: break
        }
    }

    private func call(_ id: String?, _ target: String, _ arguments: [JSONValue], _ streams: [String]) {
        func done(_ value: JSONValue) {
            if let id { send(.completion(id: id, .value(value))) }
        }
        func failed(_ text: String) {
            if let id { send(.completion(id: id, .error(text))) }
        }
        switch (target.lowercased(), arguments.count) {
        case ("echo", 1): done(arguments[0])
        case ("add", 2):
            guard let a = arguments[0].int, let b = arguments[1].int else { return failed(badArguments(target)) }
            done(.number(a &+ b))
        case ("fail", 0):
            failed("An unexpected error occurred invoking 'Fail' on the server. HubException: It failed as asked")
        case ("slow", 2):
            guard let wait = arguments[0].int, wait >= 0, wait < 3_600_000 else { return failed(badArguments(target)) }
            after(UInt64(wait) * 1_000_000) { done(arguments[1]) }
        case ("sendmessage", 2):
            hub.broadcast("ReceiveMessage", arguments)
            done(.null)
        case ("burst", 2):
            guard let count = arguments[0].int, count >= 0, count <= 100_000 else {
                return failed(badArguments(target))
            }
            for n in 0..<count { push("ReceiveMessage", [.string("burst\(n)"), arguments[1]]) }
            done(.null)
        case ("sum", _):
            guard let id, let stream = streams.first else { return failed(badArguments(target)) }
            uploads[stream] = Upload(call: id)
        case ("askback", 1):
            ask("ClientResult", arguments) { result in
                switch result {
                case .value(let value): done(.string("you said \(value?.string ?? "")"))
                case .error(let text):
                    failed("An unexpected error occurred invoking 'AskBack' on the server. HubException: \(text)")
                }
            }
        case ("ticks", 1):
            wantsTicks = arguments[0].bool ?? false
            if wantsTicks { hub.startTicking() }
            done(.null)
        case ("abort", 0): close()
        default:
            failed("Failed to invoke '\(target)' due to an error on the server. HubException: Method does not exist.")
        }
    }

    private func stream(_ id: String, _ target: String, _ arguments: [JSONValue]) {
        let end: HubResult
        let delay: Int
        switch (target.lowercased(), arguments.count) {
        case ("counter", 2):
            end = .value(nil)
            delay = arguments[1].int ?? 0
        case ("counterthenfail", 1):
            end = .error(
                "An error occurred on the server while streaming results. HubException: stream failed as asked")
            delay = 20
        default:
            let text =
                "Failed to invoke '\(target)' due to an error on the server. HubException: Method does not exist."
            return send(.completion(id: id, .error(text)))
        }
        guard let total = arguments[0].int, (0...3_600_000).contains(delay) else {
            return send(.completion(id: id, .error(badArguments(target))))
        }
        running.insert(id)
        count(id, from: 0, to: total, UInt64(delay) * 1_000_000, end)
    }

    private func count(_ id: String, from: Int, to: Int, _ delay: UInt64, _ end: HubResult) {
        guard running.contains(id) else { return }
        guard from < to else {
            running.remove(id)
            return send(.completion(id: id, end))
        }
        send(.streamItem(id: id, item: .number(from)))
        after(delay) { [weak self] in self?.count(id, from: from + 1, to: to, delay, end) }
    }

    private func ask(_ target: String, _ arguments: [JSONValue], _ done: @escaping (HubResult) -> Void) {
        let id = hub.takeCallID()
        asked[id] = done
        send(.invocation(id: id, target: target, arguments: arguments, streams: []))
    }

    private func endUpload(_ upload: Upload, _ result: HubResult) {
        if case .error(let text) = result {
            send(.completion(id: upload.call, .error("Stream canceled by the client: \(text)")))
        } else {
            send(.completion(id: upload.call, .value(.number(upload.sum))))
        }
    }

    private func badArguments(_ target: String) -> String {
        "Failed to invoke '\(target)' due to an error on the server. InvalidDataException: Wrong arguments."
    }
}

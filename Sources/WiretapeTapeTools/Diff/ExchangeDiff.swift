internal import WiretapeProtocol
internal import WiretapeWire

/// Compares the HTTP exchanges beside the sessions: equal requests in their order, by what was answered.
enum ExchangeDiff {
    /// - Parameter run: of which `b` is: what rules did is no difference.
    static func compare(_ a: [RecordedExchange], _ b: [RecordedExchange], _ run: PlayedRun) -> [TapeDifference] {
        let alignment = Alignment(a.map(request), b.map(request))
        var differences: [(line: Int, difference: TapeDifference)] = []
        for (i, j) in alignment.kept + alignment.moved
        where answer(a[i]) != answer(b[j]) && !run.lines.contains(a[i].line) {
            let pointers = body(a[i].responseBody).differences(from: body(b[j].responseBody))
            differences.append(
                (
                    a[i].line,
                    TapeDifference(
                        kind: .changed, what: "answer", place: "", first: side(a[i]), second: side(b[j]),
                        pointers: pointers)
                ))
        }
        for i in alignment.onlyFirst where !run.lines.contains(a[i].line) {
            differences.append(
                (a[i].line, TapeDifference(kind: .missing, what: "request", place: "", first: side(a[i]))))
        }
        for j in alignment.onlySecond {
            differences.append(
                (b[j].line, TapeDifference(kind: .added, what: "request", place: "", second: side(b[j]))))
        }
        return differences.sorted { $0.line < $1.line }.map(\.difference)
    }

    /// Method, path, query without regard to order, and body.
    private static func request(_ exchange: RecordedExchange) -> String {
        let query = exchange.request.query.filter { $0.name != "_" && $0.name != "access_token" }
            .map { "\($0.name)=\($0.value)" }.sorted()
        return "\(exchange.request.method) \(exchange.request.path)?\(query.joined(separator: "&")) "
            + body(exchange.requestBody).canonicalText
    }

    private static func answer(_ exchange: RecordedExchange) -> String {
        "\(outcome(exchange)) \(body(exchange.responseBody).canonicalText)"
    }

    /// The status, or how the exchange failed.
    private static func outcome(_ exchange: RecordedExchange) -> String {
        exchange.failure?.text ?? "\(exchange.response.status)"
    }

    private static func body(_ bytes: [UInt8]) -> JSONValue {
        (try? JSONValue(parsing: bytes)) ?? JSONValue(plain: bytes)
    }

    private static func side(_ exchange: RecordedExchange) -> TapeDifference.Side {
        let answer = body(exchange.responseBody)
        let text = exchange.responseBody.isEmpty ? "" : " \(answer["text"]?.text ?? answer.text)"
        return TapeDifference.Side(
            session: nil, line: exchange.line,
            text: Summary.line(
                "\(exchange.request.method) \(exchange.request.target) -> \(outcome(exchange))\(text)"))
    }
}

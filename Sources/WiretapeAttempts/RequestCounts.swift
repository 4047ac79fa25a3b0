package import WiretapeWire

/// How often clients have sent which request, by method and path, for the policy `asks`.
package struct RequestCounts: Hashable, Sendable {
    /// Different requests that are counted by themselves.
    private static let most = 4_096

    private var counts: [Request: Int] = [:]
    /// All requests, those beyond the first 4,096 different ones included.
    package private(set) var total = 0
    /// More different requests came than are counted by themselves.
    package private(set) var isCutShort = false

    private struct Request: Hashable {
        let method: String
        let path: String
    }

    package init() {}

    /// A client has sent a request.
    package mutating func came(_ head: RequestHead) {
        total += 1
        let request = Request(method: head.method, path: head.path)
        if let count = counts[request] {
            counts[request] = count + 1
        } else if counts.count < RequestCounts.most {
            counts[request] = 1
        } else {
            isCutShort = true
        }
    }

    /// How often the request came.
    func count(of asked: Expectation.Asked) -> Int {
        counts.reduce(0) { $0 + (asked.includes($1.key.method, $1.key.path) ? $1.value : 0) }
    }

    /// `POST /login`, sorted, for hints.
    var names: [String] { counts.keys.map { "\($0.method) \($0.path)" }.sorted() }
}

extension Expectation {
    /// A request by method and path: `POST /login`, `/login` with any method, `GET /api/*`.
    package struct Asked: Hashable, Sendable {
        /// Nil: any method.
        package var method: String?
        /// With `*` at its end it stands for all paths that begin so.
        package var path: String

        package init(method: String? = nil, path: String) {
            self.method = method
            self.path = path
        }

        func includes(_ method: String, _ path: String) -> Bool {
            if let own = self.method, own != method { return false }
            return self.path.hasSuffix("*") ? path.hasPrefix(self.path.dropLast()) : path == self.path
        }

        /// As a policy has it.
        package var text: String { (method.map { "\($0) " } ?? "") + path }
    }

    /// How often a request is to come.
    package struct Times: Hashable, Sendable {
        package var least: Int
        /// Nil: no limit.
        package var most: Int?

        package init(least: Int = 1, most: Int? = nil) {
            self.least = least
            self.most = most
        }

        /// `at least once`, `exactly 2 times`, `never`.
        var text: String {
            if most == 0 { return "never" }
            return (most == nil ? "at least " : "exactly ") + Times.count(least)
        }

        /// `once`, `3 times`.
        static func count(_ count: Int) -> String { count == 1 ? "once" : "\(count) times" }
    }
}

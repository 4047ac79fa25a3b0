import Foundation
import WiretapeWire

/// `docs/openapi.json`, and the part of JSON Schema that it uses.
struct OpenAPI: Sendable {
    let root: JSONValue

    static func read() throws -> OpenAPI {
        let path = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("docs/openapi.json")
        return OpenAPI(root: try JSONValue(parsing: Array(Data(contentsOf: path))))
    }

    /// What stands there: `GET /v1/status getStatus`.
    var operations: [String] {
        (root["paths"]?.members ?? []).flatMap { path in
            (path.value.members ?? []).map {
                "\($0.name.uppercased()) \(path.name) \($0.value["operationId"]?.string ?? "")"
            }
        }.sorted()
    }

    /// The names of the query items of an operation.
    func queryNames(_ method: String, _ path: String) -> [String] {
        (root["paths"]?[path]?[method.lowercased()]?["parameters"]?.array ?? []).map(resolved).compactMap {
            $0["in"]?.string == "query" ? $0["name"]?.string : nil
        }
    }

    /// What is wrong with an answer.
    func problems(_ method: String, _ target: String, _ answer: Answer) -> [String] {
        let parts = target.prefix { $0 != "?" }.split(separator: "/", omittingEmptySubsequences: false)
        let fitting = (root["paths"]?.members ?? []).filter { path in
            let own = path.name.split(separator: "/", omittingEmptySubsequences: false)
            return own.count == parts.count
                && zip(own, parts).allSatisfy { $0 == $1 || $0.hasPrefix("{") && !$1.isEmpty }
        }.sorted { $0.name.count { $0 == "{" } < $1.name.count { $0 == "{" } }
        let error = root["components"]?["responses"]?["default"] ?? .null
        var response = error
        if let operation = fitting.first?.value[method.lowercased()] {
            guard let found = operation["responses"]?["\(answer.status)"] ?? operation["responses"]?["default"] else {
                return ["no response \(answer.status)"]
            }
            response = resolved(found)
        } else if ![404, 405, 401, 403, 503].contains(answer.status) {
            return ["it is not in the document"]
        }
        let type = answer.headers.first("Content-Type")?.prefix { $0 != ";" } ?? ""
        guard let content = response["content"]?[String(type)] else { return ["no content of type '\(type)'"] }
        guard type == "application/json" else { return [] }
        guard let value = try? JSONValue(parsing: answer.body) else { return ["no JSON"] }
        var problems: [String] = []
        check(value, content["schema"] ?? .null, "", &problems)
        return problems
    }

    private func resolved(_ node: JSONValue) -> JSONValue {
        guard let link = node["$ref"]?.string else { return node }
        return resolved(root.value(at: String(link.dropFirst())) ?? .null)
    }

    private func check(_ value: JSONValue, _ schema: JSONValue, _ place: String, _ problems: inout [String]) {
        let schema = resolved(schema)
        if let choices = schema["oneOf"]?.array {
            let fits = choices.count { choice in
                var found: [String] = []
                check(value, choice, place, &found)
                return found.isEmpty
            }
            if fits != 1 { problems.append("\(place): \(fits) of oneOf fit") }
        }
        let types = schema["type"]?.array?.compactMap(\.string) ?? schema["type"]?.string.map { [$0] } ?? []
        if !types.isEmpty, !types.contains(where: { OpenAPI.isOf($0, value) }) {
            problems.append("\(place): \(value.text.prefix(80)) is not \(types.joined(separator: " or "))")
        }
        if let allowed = schema["enum"]?.array, !allowed.contains(value) {
            problems.append("\(place): \(value.text) is not in the enum")
        }
        if let only = schema["const"], only != value { problems.append("\(place): \(value.text) is not \(only.text)") }
        if let items = value.array, let each = schema["items"] {
            for (i, item) in items.enumerated() { check(item, each, "\(place)/\(i)", &problems) }
        }
        guard let members = value.members, schema["type"] != nil else { return }
        for name in schema["required"]?.array?.compactMap(\.string) ?? [] where value[name] == nil {
            problems.append("\(place): no '\(name)'")
        }
        for member in members {
            if let own = schema["properties"]?[member.name] {
                check(member.value, own, "\(place)/\(member.name)", &problems)
            } else if schema["additionalProperties"]?.bool == false {
                problems.append("\(place): '\(member.name)' is not in the schema")
            } else if let rest = schema["additionalProperties"], rest.bool == nil {
                check(member.value, rest, "\(place)/\(member.name)", &problems)
            }
        }
    }

    private static func isOf(_ type: String, _ value: JSONValue) -> Bool {
        switch value {
        case .null: type == "null"
        case .bool: type == "boolean"
        case .number: type == "number" || type == "integer" && value.int != nil
        case .string: type == "string"
        case .array: type == "array"
        case .object: type == "object"
        }
    }
}

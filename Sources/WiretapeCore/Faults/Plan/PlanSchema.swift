/// The JSON Schema of plans, made from the catalogue: docs/faults.schema.json.
package enum PlanSchema {
    /// Indented, with a newline at its end.
    package static var text: String { pretty(schema, 0) + "\n" }

    private static var schema: JSONValue {
        object([
            ("$schema", .string("https://json-schema.org/draft/2020-12/schema")),
            ("title", .string("Plan of faults of wiretape: --faults FILE")), ("type", .string("object")),
            ("additionalProperties", .bool(false)),
            (
                "properties",
                object([
                    ("seed", object([("type", .string("integer")), ("minimum", .number(0))])),
                    ("rules", list(object([("$ref", .string("#/$defs/rule"))]))),
                    ("include", list(object([("type", .string("string"))]))),
                ])
            ), ("$defs", definitions),
        ])
    }

    private static var definitions: JSONValue {
        object([
            ("rule", object([("oneOf", .array([inline, written, structured]))])), ("action", action),
            (
                "ordinal",
                object([
                    ("type", strings(["integer", "string"])),
                    ("pattern", .string("^([0-9]+([.]{2}[0-9]+|([|][0-9]+)*)|every [0-9]+)$")),
                ])
            ),
            ("duration", object([("type", .string("string")), ("pattern", .string("^([0-9.]+(ns|us|ms|s|m|h)|0)$"))])),
            ("when", when),
        ])
    }

    private static var inline: JSONValue {
        object([
            ("type", .string("string")), ("pattern", .string("^ *(\(words))( *[(+].*)?( .*)?$")),
            ("description", .string("A rule in its inline form: reset after ReceiveMessage[3]")),
            ("examples", .array(Faults.all.flatMap(\.examples).map(JSONValue.string))),
        ])
    }

    /// `{ fault: … }`.
    private static var written: JSONValue {
        object([
            ("type", .string("object")), ("additionalProperties", .bool(false)), ("required", strings(["fault"])),
            (
                "properties",
                object([
                    ("name", object([("type", .string("string"))])), ("fault", inline),
                    ("optional", object([("type", .string("boolean"))])),
                ])
            ),
        ])
    }

    /// `{ when: …, do: … }`.
    private static var structured: JSONValue {
        object([
            ("type", .string("object")), ("additionalProperties", .bool(false)), ("required", strings(["when", "do"])),
            (
                "properties",
                object([
                    ("name", object([("type", .string("string"))])),
                    ("when", object([("$ref", .string("#/$defs/when"))])),
                    (
                        "do",
                        object([
                            (
                                "oneOf",
                                .array([
                                    object([("$ref", .string("#/$defs/action"))]),
                                    list(object([("$ref", .string("#/$defs/action"))])),
                                ])
                            )
                        ])
                    ),
                    ("place", object([("enum", strings(["before", "after", "on", "instead"]))])),
                    ("optional", object([("type", .string("boolean"))])),
                ])
            ),
        ])
    }

    private static var action: JSONValue {
        object([
            ("type", .string("string")), ("pattern", .string("^ *(\(words))( *[(+].*)?$")),
            (
                "description",
                .string(Faults.all.map { "\($0.word): \($0.summary)" }.joined(separator: "\n"))
            ),
        ])
    }

    private static var words: String { Faults.all.map(\.word).joined(separator: "|") }

    private static var when: JSONValue {
        let text = object([("type", strings(["string", "number", "boolean"]))])
        let ordinal = object([("$ref", .string("#/$defs/ordinal"))])
        let duration = object([("$ref", .string("#/$defs/duration"))])
        var properties: [(String, JSONValue)] = [
            (
                "at",
                object([
                    ("type", .string("string")),
                    (
                        "description",
                        .string(
                            "A label, or one of the points "
                                + FaultPoint.allCases.map(\.rawValue).joined(separator: ", "))
                    ),
                ])
            )
        ]
        for key in ["occurrence", "attempt", "retry", "session"] { properties.append((key, ordinal)) }
        properties.append(
            ("probability", object([("type", .string("number")), ("minimum", .number(0)), ("maximum", .number(1))])))
        properties.append(("max", object([("type", .string("integer")), ("minimum", .number(1))])))
        properties.append(("per", object([("enum", strings(RuleFilters.Scope.allCases.map(\.rawValue)))])))
        let marks = RuleFilters.Since.Mark.allCases.map { ($0.rawValue, duration) }
        properties.append(
            (
                "since",
                object([
                    ("type", .string("object")), ("additionalProperties", .bool(false)), ("minProperties", .number(1)),
                    ("maxProperties", .number(1)), ("properties", object(marks)),
                ])
            ))
        properties.append(("headers", object([("type", .string("object")), ("additionalProperties", text)])))
        for key in Condition.keys { properties.append((key, condition(key, text))) }
        return object([
            ("type", .string("object")), ("additionalProperties", .bool(false)), ("properties", object(properties)),
            ("patternProperties", object([("^/", object([])), ("^header[.]", text)])),
        ])
    }

    private static func condition(_ key: String, _ text: JSONValue) -> JSONValue {
        switch key {
        case "direction": object([("enum", strings(["toClient", "toServer"]))])
        case "by": object([("enum", strings(["server", "client"]))])
        case "token": object([("enum", strings(["stale"]))])
        default: text
        }
    }

    // MARK: Making JSON

    private static func object(_ members: [(String, JSONValue)]) -> JSONValue {
        .object(members.map { JSONValue.Member($0.0, $0.1) })
    }

    private static func list(_ items: JSONValue) -> JSONValue {
        object([("type", .string("array")), ("items", items)])
    }

    private static func strings(_ texts: [String]) -> JSONValue { .array(texts.map(JSONValue.string)) }

    private static func pretty(_ value: JSONValue, _ depth: Int) -> String {
        let inner = String(repeating: "  ", count: depth + 1)
        let outer = String(repeating: "  ", count: depth)
        switch value {
        case .object(let members) where !members.isEmpty:
            let lines = members.map { "\(inner)\(JSONValue.string($0.name).text): \(pretty($0.value, depth + 1))" }
            return "{\n\(lines.joined(separator: ",\n"))\n\(outer)}"
        case .array(let items) where items.contains { $0.members != nil } || items.count > 8:
            let lines = items.map { inner + pretty($0, depth + 1) }
            return "[\n\(lines.joined(separator: ",\n"))\n\(outer)]"
        default: return value.text
        }
    }
}

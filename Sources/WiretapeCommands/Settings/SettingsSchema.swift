package import WiretapeCommandLine
internal import WiretapeWire

/// The JSON Schema of settings files, made from the declarations: docs/wiretape.schema.json.
package enum SettingsSchema {
    package static func text(_ specs: [CommandSpec]) -> String { pretty(schema(specs), 0) + "\n" }

    private static func schema(_ specs: [CommandSpec]) -> JSONValue {
        let commands = specs.filter { $0.option("config") != nil }
        return object([
            ("$schema", .string("https://json-schema.org/draft/2020-12/schema")),
            ("title", .string("Settings of wiretape: wiretape.yaml, or x.tape.yaml beside a tape")),
            ("type", .string("object")), ("additionalProperties", .bool(false)),
            (
                "properties",
                object([
                    (
                        "ignore",
                        list("Places that may differ: LABEL:/pointer of messages, PATH:?item of queries.", #"^.+:[/?]"#)
                    ),
                    ("routes", map("Requests for a path are served from what was recorded at another.")),
                    (
                        "redact",
                        list(
                            "on, off, or places of secrets besides the known ones: header:NAME, json:/pointer, regex:PATTERN.",
                            #"^(on|off|(header|query|cookie|json|regex):.+)$"#)
                    ),
                    (
                        "keep",
                        list(
                            "Places whose values are recorded as they are, spelled like those of 'redact'.",
                            #"^(header|query|cookie|json|regex):.+$"#)
                    ),
                    (
                        "leadBack",
                        list(
                            "Places at which answers name servers that clients go to next: GET /config:/hub/url, X-Hub-Url; or off.",
                            #"^(off|([A-Z]+ )?(\*|/.*):/.*|[!#-'*+.^_`|~0-9A-Za-z-]+)$"#)
                    ),
                    ("upstreams", map("Names and URLs of the servers to record.")),
                    (
                        "defaults",
                        object([
                            ("type", .string("object")), ("additionalProperties", .bool(false)),
                            ("description", .string("Options of the commands, without their dashes.")),
                            ("properties", object(commands.map { ($0.name, command($0)) })),
                        ])
                    ),
                ])
            ),
        ])
    }

    private static func command(_ spec: CommandSpec) -> JSONValue {
        let options = spec.options.filter { $0.missing == nil && SettingsCheck.isSettable($0) }
        return object([
            ("type", .string("object")), ("additionalProperties", .bool(false)),
            ("properties", object(options.map { ($0.name, option($0)) })),
        ])
    }

    private static func option(_ option: OptionSpec) -> JSONValue {
        let one: [(String, JSONValue)]
        switch option.kind {
        case _ where option.valueName == nil: one = [("type", .string("boolean"))]
        case .choice(let words): one = [("enum", .array(words.map(JSONValue.string)))]
        case .count: one = [("type", .string("integer"))]
        case .duration: one = [("type", .string("string")), ("pattern", .string(#"^[0-9.]+(ns|us|ms|s|m|h)$"#))]
        case .text, .file, .directory, .checked:
            one = [("type", .array(["string", "number", "boolean"].map(JSONValue.string)))]
        }
        var members: [(String, JSONValue)] = [("description", .string(option.help))]
        if let value = option.defaultValue { members.append(("default", .string(value))) }
        if option.isRepeatable {
            members.append(
                (
                    "oneOf",
                    .array([object(one), object([("type", .string("array")), ("items", object(one))])])
                ))
        } else {
            members += one
        }
        return object(members)
    }

    private static func list(_ description: String, _ pattern: String) -> JSONValue {
        let text = object([("type", .string("string")), ("pattern", .string(pattern))])
        return object([
            ("description", .string(description)),
            ("oneOf", .array([text, object([("type", .string("array")), ("items", text)])])),
        ])
    }

    private static func map(_ description: String) -> JSONValue {
        let text = object([("type", .string("string"))])
        return object([
            ("description", .string(description)),
            (
                "oneOf",
                .array([
                    object([("type", .string("object")), ("additionalProperties", text)]),
                    object([("type", .string("array")), ("items", text)]),
                ])
            ),
        ])
    }

    private static func object(_ members: [(String, JSONValue)]) -> JSONValue {
        .object(members.map { JSONValue.Member($0.0, $0.1) })
    }

    /// Objects over several lines, everything else on one.
    private static func pretty(_ value: JSONValue, _ depth: Int) -> String {
        guard case .object(let members) = value, depth < 6, value.text.utf8.count > 100 else { return value.text }
        let margin = String(repeating: "  ", count: depth)
        let lines = members.map { "\(margin)  \(JSONValue.string($0.name).text): \(pretty($0.value, depth + 1))" }
        return "{\n\(lines.joined(separator: ",\n"))\n\(margin)}"
    }
}

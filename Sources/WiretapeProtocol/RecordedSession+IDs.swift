package import WiretapeWire

extension RecordedSession {
    /// A value in which the ids that the server made for this session have one name in every recording: applications hand
    /// them on in their messages.
    package func withoutServerIDs(_ value: JSONValue) -> JSONValue {
        guard let serverIDs, value.hasText({ $0 == serverIDs.connectionID || $0 == serverIDs.token }) else {
            return value
        }
        return value.mappingTexts { text in
            text == serverIDs.connectionID ? "$connectionId" : text == serverIDs.token ? "$connectionToken" : text
        }
    }
}

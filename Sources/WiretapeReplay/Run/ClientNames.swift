internal import WiretapeWire

/// What clients without a name of their own go by: a number for each credential, else where they come from.
struct ClientNames {
    /// Numbers of credentials.
    private var credentials: [String: Int] = [:]
    /// Where each numbered one came from last.
    private var places: [String: String] = [:]
    /// Clients that a rule answered 401, or whose session it expired, by their place: the next unknown credential from there is
    /// theirs.
    private var expired: [String: Int] = [:]

    /// The name of the client with that credential.
    /// - Parameter place: its address and agent.
    mutating func name(of credential: String, from place: String) -> String {
        let number = credentials[credential] ?? expired.removeValue(forKey: place) ?? credentials.count + 1
        credentials[credential] = number
        let name = "credential \(number)"
        places[name] = place
        return name
    }

    /// A rule refuses the credential, or ends what it was good for: the client may come back with another one.
    mutating func expire(_ credential: String, from place: String) {
        guard let number = credentials[credential] else { return }
        expired[place] = number
    }

    /// Where a client with a credential came from last.
    func place(of name: String) -> String? { places[name] }
}

extension RequestHead {
    /// The secret that tells a user: a token, wherever it stands, else the cookies.
    package var credential: String? {
        if let authorization = headers.first("Authorization") {
            let parts = authorization.split(separator: " ", maxSplits: 1)
            let isBearer = parts.count == 2 && equalIgnoringCase(parts[0], "Bearer")
            return isBearer ? String(parts[1]) : authorization
        }
        if let token = query.first(where: { $0.name == "access_token" && !$0.value.isEmpty }) { return token.value }
        let cookies = headers.all("Cookie")
        return cookies.isEmpty ? nil : cookies.joined(separator: "; ")
    }
}

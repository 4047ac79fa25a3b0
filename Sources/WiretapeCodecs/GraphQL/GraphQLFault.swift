/// Why a payload is not a message of the protocol, or a text no GraphQL document.
struct GraphQLFault: Error, Hashable {
    var reason: String

    init(_ reason: String) { self.reason = reason }
}

/// A connection to the hub that is open: texts in both directions.
protocol Transport: Sendable {
    /// What the hub says, until the connection ends. Throws ``Closed`` when the hub closed it, ``ConnectionLost`` when it broke.
    var texts: AsyncThrowingStream<String, any Error> { get }
    /// How often the hub has been heard, answers to ``ping()`` included.
    var signs: Int { get }
    func send(_ text: String) async throws
    /// Asks for a sign of life.
    func ping() async throws
    /// Ends the connection in order.
    func close() async
    /// Ends it at once.
    func hangUp()
}

/// The hub has closed the connection, with this code.
struct Closed: Error {
    var code: Int
}

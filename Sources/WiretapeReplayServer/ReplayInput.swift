/// What becomes of bytes that a connection wrote.
enum ReplayInput {
    case handedOver(UInt64)
    case acknowledged(UInt64, complete: Bool)
}

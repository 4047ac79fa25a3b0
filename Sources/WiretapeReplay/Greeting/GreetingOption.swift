package import WiretapeBytes

/// What a client that is back on a new connection hears first (`--greeting`).
package enum GreetingOption: Hashable, Sendable {
    /// What the tape shows to be the server's greeting.
    case auto
    /// Nothing.
    case off
    /// Pushes of these names.
    case named([String])

    package init(parsing text: String) throws(OptionError) {
        switch text {
        case "auto": self = .auto
        case "none": self = .off
        default:
            let names = text.split(separator: ",", omittingEmptySubsequences: false).map {
                String($0.trimmingBlanks())
            }
            guard !names.contains("") else {
                throw OptionError(
                    "'\(text)' is no greeting; write auto, none, or the names of pushes: Welcome or Welcome,Motd")
            }
            self = .named(names)
        }
    }
}

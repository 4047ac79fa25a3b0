extension HelpPage {
    /// What `wiretape --help` prints: the commands.
    package static func overview(_ specs: [CommandSpec], width: Int) -> String {
        var out = "Usage: wiretape COMMAND [ARGUMENTS]\n       wiretape COMMAND --help\n\n"
        out += TextWrap.block(about, indent: 0, width: width)
        out += "\nCommands:\n"
        for spec in specs { out += TextWrap.entry(spec.name, spec.abstract + ".", column: 16, width: width) }
        out += "\nOptions:\n"
        out += TextWrap.entry("-h, --help", "Show this text, or that of a command.", column: 16, width: width)
        out += TextWrap.entry("--version", "Print the version.", column: 16, width: width)
        return out
    }

    /// What the tool is, in a sentence or two.
    package static let about = """
        Wiretape records realtime traffic (WebSockets, server-sent events, streamed HTTP) between a client and its \
        server, and plays the server's part back to a client under test, with faults.
        """
}

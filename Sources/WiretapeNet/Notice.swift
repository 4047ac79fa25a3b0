internal import WiretapeSystem

/// What people must know and no caller can be told: a line on stderr.
enum Notice {
    static func write(_ text: String) { Console.error.write("wiretape: \(text)\n") }
}

/// Words that other tools have for what is called otherwise here.
package enum ForeignWords {
    /// What is called so elsewhere, as it is called here.
    package static func meaning(of word: String, in table: [String: String]) -> String? {
        table[word.lowercased().replacing("_", with: "-")]
    }

    /// Of Toxiproxy, Envoy, Chaos Mesh, `tc netem` and others, as ``Faults`` has them.
    package static let actions = [
        "abort": "reset", "bad-certificate": "certificate", "bandwidth": "throttle", "blackhole": "stall",
        "block": "stall", "corruption": "corrupt",
        "cut": "truncate", "down": "outage", "error": "respond", "fin": "disconnect",
        "handshake-failure": "alert",
        "freeze": "stall", "hang": "stall", "http": "respond", "jitter": "delay", "lag": "delay", "latency": "delay",
        "limit": "throttle", "limit-data": "truncate", "loss": "drop", "partition": "outage", "rate": "throttle",
        "reset-peer": "reset", "rst": "reset", "sleep": "delay", "slicer": "slice", "slow": "throttle",
        "status": "respond", "timeout": "stall", "wait": "delay",
    ]

    /// Options, as the commands have them.
    package static let options = [
        "bind": "listen", "chaos": "faults", "fault-file": "faults", "fault-plan": "faults",
        "out": "output", "plan": "faults", "port": "listen", "rule": "fault", "rules": "faults", "target": "upstream",
        "toxic": "fault", "toxics": "faults", "backend": "upstream",
    ]
}

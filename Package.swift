// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .strictMemorySafety(),
    .treatAllWarnings(as: .error),
]

/// A library of the system, found by pkg-config.
func system(_ name: String, _ pkgConfig: String, apt: String, brew: String) -> Target {
    .systemLibrary(name: name, pkgConfig: pkgConfig, providers: [.apt([apt]), .brew([brew])])
}

/// What sessions and their messages are, and what they are made of.
let protocols: [Target.Dependency] = [
    "WiretapeProtocol", "WiretapeMessages", "WiretapeRedaction", "WiretapeWire", "WiretapeRuntime", "WiretapeBytes",
]
/// What runs on live traffic are made of: rules, attempts, the report.
let liveRuns: [Target.Dependency] =
    ["WiretapeIntercept", "WiretapePlayback", "WiretapeReport", "WiretapeFaults", "WiretapeAttempts"] + protocols
/// The same, and replays.
let runs: [Target.Dependency] = ["WiretapeReplay"] + liveRuns

/// Depended on by targets that do not import it. Of the modules that could be compiled next, the build system takes the last by name, so what
/// `WiretapeReplay` waits for came last, and what waits for it, at the end of a release build, had one processor for itself.
let replayFirst: [Target.Dependency] = ["WiretapeReport", "WiretapePlayback"]

// What each target may import is stated in docs/architecture.md and checked by tools/check-layers.
let package = Package(
    name: "wiretape",
    platforms: [.macOS(.v15)],
    products: [
        .executable(name: "wiretape", targets: ["wiretape"]),
        .library(name: "WiretapeTesting", targets: ["WiretapeTesting"]),
    ],
    targets: [
        system("CWiretapeUV", "libuv", apt: "libuv1-dev", brew: "libuv"),
        system("CWiretapeOpenSSL", "openssl", apt: "libssl-dev", brew: "openssl@3"),
        system("CWiretapeZlib", "zlib", apt: "zlib1g-dev", brew: "zlib"),
        system("CWiretapeLibdeflate", "libdeflate", apt: "libdeflate-dev", brew: "libdeflate"),
        system("CWiretapeBrotli", "libbrotlidec", apt: "libbrotli-dev", brew: "brotli"),
        system("CWiretapeZstd", "libzstd", apt: "libzstd-dev", brew: "zstd"),
        system("CWiretapeYAML", "yaml-0.1", apt: "libyaml-dev", brew: "libyaml"),
        .target(
            name: "WiretapeBytes",
            dependencies: [
                "CWiretapeZlib", "CWiretapeLibdeflate", "CWiretapeBrotli", "CWiretapeZstd", "CWiretapeOpenSSL",
            ],
            swiftSettings: settings),
        .target(name: "WiretapeSystem", dependencies: ["WiretapeBytes"], swiftSettings: settings),
        .target(name: "WiretapeRuntime", dependencies: ["WiretapeBytes"], swiftSettings: settings),
        .target(
            name: "WiretapeWire", dependencies: ["WiretapeBytes"], swiftSettings: settings,
            // Nothing here imports Glibc, and conversions between Double and integers need libm.
            linkerSettings: [.linkedLibrary("m", .when(platforms: [.linux]))]),
        .target(
            name: "WiretapeRedaction", dependencies: ["WiretapeWire", "WiretapeBytes"], swiftSettings: settings),
        .target(
            name: "WiretapeMessages", dependencies: ["WiretapeWire", "WiretapeBytes"], swiftSettings: settings),
        .target(
            name: "WiretapeProtocol",
            dependencies: ["WiretapeMessages", "WiretapeRedaction", "WiretapeWire", "WiretapeBytes"],
            swiftSettings: settings),
        .target(
            name: "WiretapeAttempts", dependencies: ["WiretapeMessages", "WiretapeWire", "WiretapeBytes"],
            swiftSettings: settings),
        .target(
            name: "WiretapeFaults", dependencies: ["WiretapeMessages", "WiretapeWire", "WiretapeBytes"],
            swiftSettings: settings),
        .target(
            name: "WiretapePlayback",
            dependencies: [
                "WiretapeFaults", "WiretapeProtocol", "WiretapeMessages", "WiretapeWire", "WiretapeRuntime",
                "WiretapeBytes",
            ],
            swiftSettings: settings),
        .target(
            name: "WiretapeReport", dependencies: ["WiretapeAttempts", "WiretapeWire", "WiretapeBytes"],
            swiftSettings: settings),
        .target(
            name: "WiretapeReplay",
            dependencies: ["WiretapePlayback", "WiretapeReport", "WiretapeFaults", "WiretapeAttempts"] + protocols,
            swiftSettings: settings),
        .target(
            name: "WiretapeIntercept",
            dependencies: ["WiretapePlayback", "WiretapeReport", "WiretapeFaults", "WiretapeAttempts"] + protocols,
            swiftSettings: settings),
        .target(
            name: "WiretapeNet", dependencies: ["WiretapeRuntime", "WiretapeBytes", "WiretapeSystem", "CWiretapeUV"],
            swiftSettings: settings),
        .target(
            name: "WiretapeTLS", dependencies: ["WiretapeBytes", "WiretapeSystem", "CWiretapeOpenSSL"],
            swiftSettings: settings),
        .target(
            name: "WiretapeSettings",
            dependencies: ["WiretapeFaults", "WiretapeRedaction", "WiretapeBytes", "CWiretapeYAML"],
            swiftSettings: settings),
        .target(
            name: "WiretapeTape", dependencies: ["WiretapeSystem"] + protocols + replayFirst, swiftSettings: settings),
        .target(
            name: "WiretapeRecorder", dependencies: ["WiretapeTape", "WiretapeSystem"] + protocols,
            swiftSettings: settings),
        .target(name: "WiretapePackets", dependencies: ["WiretapeBytes"], swiftSettings: settings),
        .target(
            name: "WiretapeCapture",
            dependencies: ["WiretapePackets", "WiretapeRecorder", "WiretapeTape", "WiretapeSystem"] + protocols,
            swiftSettings: settings),
        .target(
            name: "WiretapeTapeTools", dependencies: ["WiretapeTape", "WiretapeFaults", "WiretapeSystem"] + protocols,
            swiftSettings: settings),
        .target(
            name: "WiretapeCodecs",
            dependencies: ["WiretapeProtocol", "WiretapeMessages", "WiretapeWire", "WiretapeBytes"] + replayFirst,
            swiftSettings: settings),
        .target(
            name: "WiretapeProxy",
            dependencies: ["WiretapeTLS", "WiretapeRecorder", "WiretapeTape", "WiretapeSystem"] + liveRuns,
            swiftSettings: settings),
        .target(
            name: "WiretapeReplayServer",
            dependencies: ["WiretapeProxy", "WiretapeTLS", "WiretapeRecorder", "WiretapeTape", "WiretapeSystem"] + runs,
            swiftSettings: settings),
        .target(
            name: "WiretapeSamples",
            dependencies: [
                "WiretapeNet", "WiretapeReplayServer", "WiretapeProxy", "WiretapeCodecs", "WiretapeTape",
                "WiretapeSystem",
            ] + runs,
            swiftSettings: settings),
        .target(
            name: "WiretapeTesting",
            dependencies: [
                "WiretapeReplayServer", "WiretapeProxy", "WiretapeNet", "WiretapeTLS", "WiretapeCodecs",
                "WiretapeRecorder", "WiretapeTape",
                "WiretapeSystem",
            ]
                + runs,
            swiftSettings: settings),
        .target(
            name: "WiretapeControl",
            dependencies: ["WiretapeReplayServer", "WiretapeProxy", "WiretapeRecorder", "WiretapeTape"] + runs,
            // The web page: the plugin puts its files into the program.
            exclude: ["Page"], swiftSettings: settings, plugins: ["EmbedPage"]),
        .executableTarget(name: "embed-page", swiftSettings: settings),
        .plugin(name: "EmbedPage", capability: .buildTool(), dependencies: ["embed-page"]),
        .target(name: "WiretapeSimulation", dependencies: runs, swiftSettings: settings),
        .target(
            name: "WiretapeCommandLine",
            dependencies: [
                "WiretapeTape", "WiretapeRedaction", "WiretapeWire", "WiretapeRuntime", "WiretapeSystem",
                "WiretapeBytes",
            ],
            swiftSettings: settings),
        .target(
            name: "WiretapeTapeCommands",
            dependencies: [
                "WiretapeCommandLine", "WiretapeCodecs", "WiretapeRecorder", "WiretapeTape", "WiretapeTapeTools",
                "WiretapeCapture", "WiretapePackets", "WiretapeSystem",
            ] + runs,
            swiftSettings: settings),
        .target(
            name: "WiretapeServing",
            dependencies: [
                "WiretapeCommandLine", "WiretapeControl", "WiretapeReplayServer", "WiretapeProxy", "WiretapeNet",
                "WiretapeTLS", "WiretapeSettings", "WiretapeCodecs", "WiretapeRecorder", "WiretapeTape",
                "WiretapeTapeTools", "WiretapeSystem",
            ] + runs,
            swiftSettings: settings),
        .executableTarget(
            name: "wiretape",
            dependencies: [
                "WiretapeServing", "WiretapeTapeCommands", "WiretapeCommandLine", "WiretapeControl",
                "WiretapeReplayServer", "WiretapeProxy", "WiretapeNet",
                "WiretapeTLS", "WiretapeSettings", "WiretapeCodecs", "WiretapeRecorder", "WiretapeTape",
                "WiretapeTapeTools", "WiretapeCapture", "WiretapePackets", "WiretapeSystem",
            ] + runs,
            swiftSettings: settings),
        .executableTarget(
            name: "simulate",
            dependencies: ["WiretapeSimulation", "WiretapeCodecs", "WiretapeSystem"] + runs,
            swiftSettings: settings),
        .target(
            name: "WiretapeFuzz",
            dependencies: [
                "WiretapeReplayServer", "WiretapeProxy", "WiretapeSettings", "WiretapeSimulation", "WiretapeCodecs",
                "WiretapeRecorder",
                "WiretapeTape", "WiretapeTapeTools", "WiretapeCapture", "WiretapePackets",
            ] + runs,
            swiftSettings: settings),
        .executableTarget(name: "sample-hub", dependencies: ["WiretapeSamples"], swiftSettings: settings),
        .executableTarget(name: "sample-client", dependencies: ["WiretapeSamples"], swiftSettings: settings),
        .testTarget(name: "WiretapeBytesTests", dependencies: ["WiretapeBytes"], swiftSettings: settings),
        .testTarget(
            name: "WiretapeRuntimeTests", dependencies: ["WiretapeRuntime", "WiretapeBytes"], swiftSettings: settings),
        .testTarget(
            name: "WiretapeSystemTests", dependencies: ["WiretapeSystem", "WiretapeBytes"], swiftSettings: settings),
        .testTarget(
            name: "WiretapeTLSTests", dependencies: ["WiretapeTLS", "WiretapeSystem", "WiretapeBytes"],
            swiftSettings: settings),
        .testTarget(name: "WiretapeWireTests", dependencies: protocols, swiftSettings: settings),
        .testTarget(name: "WiretapeProtocolTests", dependencies: protocols, swiftSettings: settings),
        .testTarget(name: "WiretapeRedactionTests", dependencies: protocols, swiftSettings: settings),
        .testTarget(name: "WiretapeAttemptsTests", dependencies: runs, swiftSettings: settings),
        .testTarget(name: "WiretapeFaultsTests", dependencies: ["WiretapeSettings"] + runs, swiftSettings: settings),
        .testTarget(name: "WiretapeSettingsTests", dependencies: ["WiretapeSettings"] + runs, swiftSettings: settings),
        .testTarget(name: "WiretapePlaybackTests", dependencies: runs, swiftSettings: settings),
        .testTarget(name: "WiretapeReportTests", dependencies: runs, swiftSettings: settings),
        .testTarget(name: "WiretapeInterceptTests", dependencies: ["WiretapeCodecs"] + runs, swiftSettings: settings),
        .testTarget(
            name: "WiretapeNetTests",
            dependencies: ["WiretapeNet", "WiretapeRuntime", "WiretapeBytes", "WiretapeSystem"],
            swiftSettings: settings),
        .testTarget(
            name: "WiretapeRecorderTests",
            dependencies: ["WiretapeSimulation", "WiretapeRecorder", "WiretapeTape", "WiretapeSystem"] + runs,
            swiftSettings: settings),
        .testTarget(
            name: "WiretapeTapeTests",
            dependencies: [
                "WiretapeCodecs", "WiretapeRecorder", "WiretapeTape", "WiretapeTapeTools", "WiretapeFaults",
                "WiretapeSystem",
            ] + protocols,
            swiftSettings: settings),
        .testTarget(
            name: "WiretapeCaptureTests",
            dependencies: [
                "WiretapeCapture", "WiretapePackets", "WiretapeRecorder", "WiretapeTape", "WiretapeTapeTools",
                "WiretapeCodecs", "WiretapeSystem",
            ] + protocols,
            swiftSettings: settings),
        .testTarget(
            name: "WiretapeCodecsTests",
            dependencies: ["WiretapeCodecs", "WiretapeRecorder", "WiretapeTape", "WiretapeTapeTools", "WiretapeSystem"]
                + runs,
            swiftSettings: settings),
        .testTarget(
            name: "WiretapeReplayTests",
            dependencies: [
                "WiretapeSimulation", "WiretapeCodecs", "WiretapeSettings", "WiretapeRecorder", "WiretapeTape",
                "WiretapeTapeTools", "WiretapeSystem",
            ] + runs,
            swiftSettings: settings),
        .testTarget(
            name: "WiretapeProxyTests",
            dependencies: [
                "WiretapeReplayServer", "WiretapeProxy", "WiretapeSimulation", "WiretapeSamples", "WiretapeNet",
                "WiretapeTLS",
                "WiretapeCodecs", "WiretapeRecorder", "WiretapeTape", "WiretapeTapeTools", "WiretapeSystem",
            ] + runs,
            swiftSettings: settings),
        // The client of Examples/swift, which the library is tested with, too. It is written as its readers would write it.
        .target(name: "ExampleChat", path: "Examples/swift/Sources/Chat"),
        .testTarget(
            name: "WiretapeTestingTests",
            dependencies: [
                "WiretapeTesting", "ExampleChat", "WiretapeReplayServer", "WiretapeProxy", "WiretapeNet", "WiretapeTLS",
                "WiretapeSystem",
            ]
                + runs,
            swiftSettings: settings),
        .testTarget(
            name: "WiretapeControlTests",
            dependencies: [
                "WiretapeControl", "ExampleChat", "WiretapeReplayServer", "WiretapeProxy", "WiretapeNet",
                "WiretapeCodecs", "WiretapeTape",
                "WiretapeSystem",
            ] + runs,
            swiftSettings: settings),
        .testTarget(
            name: "WiretapeFuzzTests", dependencies: ["WiretapeFuzz"], swiftSettings: settings),
        .testTarget(
            name: "WiretapeCommandTests",
            dependencies: [
                "wiretape", "WiretapeServing", "WiretapeTapeCommands", "WiretapeCommandLine", "WiretapeRecorder",
                "WiretapeTape",
                "WiretapeTapeTools", "WiretapeSystem",
            ] + runs,
            swiftSettings: settings),
    ]
)

// libFuzzer is there only when the compiler is told to bring it: tools/fuzz does.
if Context.environment["WIRETAPE_FUZZ"] != nil {
    package.targets += [
        .systemLibrary(name: "CWiretapeFuzzer"),
        .executableTarget(
            name: "fuzz", dependencies: ["WiretapeFuzz", "WiretapeSystem", "CWiretapeFuzzer"], swiftSettings: settings),
    ]
}

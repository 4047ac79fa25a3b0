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
/// A release build does not optimize the tests themselves: that took more time than all programs together. A second compiler run for
/// the module, which nobody imports, is left out.
let testSettings =
    settings + [.unsafeFlags(["-Onone", "-no-emit-module-separately-wmo"], .when(configuration: .release))]
/// On Linux a release's programs contain Swift's runtime: they start on machines without Swift and call the runtime directly. macOS has
/// the runtime. The sanitizers need the shared one, so tools/sanitize sets WIRETAPE_SHARED_RUNTIME.
let staticRuntime: [LinkerSetting] =
    Context.environment["WIRETAPE_SHARED_RUNTIME"] != nil
    ? [] : [.unsafeFlags(["-static-stdlib"], .when(platforms: [.linux], configuration: .release))]

/// A library of the system, found by pkg-config.
func system(_ name: String, _ pkgConfig: String, apt: String, brew: String) -> Target {
    .systemLibrary(name: name, pkgConfig: pkgConfig, providers: [.apt([apt]), .brew([brew])])
}

// A target declares each module that its files import, and no other: tools/check-graph compares.
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
                "CWiretapeOpenSSL", "CWiretapeZlib", "CWiretapeLibdeflate", "CWiretapeBrotli", "CWiretapeZstd",
            ], swiftSettings: settings),
        .target(name: "WiretapeSystem", dependencies: ["WiretapeBytes"], swiftSettings: settings),
        .target(name: "WiretapeRuntime", dependencies: ["WiretapeBytes"], swiftSettings: settings),
        .target(
            name: "WiretapeWire", dependencies: ["WiretapeBytes"], swiftSettings: settings,
            // Wiretape's pure modules import no Glibc, and conversions between Double and integers need libm.
            linkerSettings: [.linkedLibrary("m", .when(platforms: [.linux]))]),
        .target(name: "WiretapeRedaction", dependencies: ["WiretapeWire", "WiretapeBytes"], swiftSettings: settings),
        .target(name: "WiretapeMessages", dependencies: ["WiretapeWire", "WiretapeBytes"], swiftSettings: settings),
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
            ], swiftSettings: settings),
        .target(
            name: "WiretapeReport", dependencies: ["WiretapeAttempts", "WiretapeWire", "WiretapeBytes"],
            swiftSettings: settings),
        .target(
            name: "WiretapeReplay",
            dependencies: [
                "WiretapeReport", "WiretapePlayback", "WiretapeFaults", "WiretapeAttempts", "WiretapeProtocol",
                "WiretapeMessages", "WiretapeRedaction", "WiretapeWire", "WiretapeRuntime", "WiretapeBytes",
            ], swiftSettings: settings),
        .target(
            name: "WiretapeIntercept",
            dependencies: [
                "WiretapeReport", "WiretapePlayback", "WiretapeFaults", "WiretapeAttempts", "WiretapeProtocol",
                "WiretapeMessages", "WiretapeWire", "WiretapeRuntime", "WiretapeBytes",
            ], swiftSettings: settings),
        .target(
            name: "WiretapeCodecs",
            dependencies: ["WiretapeProtocol", "WiretapeMessages", "WiretapeWire", "WiretapeBytes"],
            swiftSettings: settings),
        .target(
            name: "WiretapeNet", dependencies: ["WiretapeRuntime", "WiretapeSystem", "WiretapeBytes", "CWiretapeUV"],
            swiftSettings: settings),
        .target(
            name: "WiretapeTLS", dependencies: ["WiretapeSystem", "WiretapeBytes", "CWiretapeOpenSSL"],
            swiftSettings: settings),
        .target(
            name: "WiretapeSettings", dependencies: ["WiretapeFaults", "WiretapeBytes", "CWiretapeYAML"],
            swiftSettings: settings),
        .target(
            name: "WiretapeTape",
            dependencies: ["WiretapeProtocol", "WiretapeRedaction", "WiretapeWire", "WiretapeSystem", "WiretapeBytes"],
            swiftSettings: settings),
        .target(
            name: "WiretapeRecorder",
            dependencies: [
                "WiretapeTape", "WiretapeProtocol", "WiretapeMessages", "WiretapeWire", "WiretapeRuntime",
                "WiretapeSystem", "WiretapeBytes",
            ], swiftSettings: settings),
        .target(
            name: "WiretapeTapeTools",
            dependencies: [
                "WiretapeTape", "WiretapeFaults", "WiretapeProtocol", "WiretapeMessages", "WiretapeRedaction",
                "WiretapeWire", "WiretapeRuntime", "WiretapeSystem", "WiretapeBytes",
            ], swiftSettings: settings),
        .target(name: "WiretapePackets", dependencies: ["WiretapeBytes"], swiftSettings: settings),
        .target(
            name: "WiretapeCapture",
            dependencies: [
                "WiretapePackets", "WiretapeRecorder", "WiretapeTape", "WiretapeProtocol", "WiretapeWire",
                "WiretapeSystem", "WiretapeBytes",
            ], swiftSettings: settings),
        .target(
            name: "WiretapeProxy",
            dependencies: [
                "WiretapeRecorder", "WiretapeTLS", "WiretapeIntercept", "WiretapePlayback", "WiretapeFaults",
                "WiretapeAttempts", "WiretapeProtocol", "WiretapeMessages", "WiretapeWire", "WiretapeRuntime",
                "WiretapeBytes",
            ], swiftSettings: settings),
        .target(
            name: "WiretapeReplayServer",
            dependencies: [
                "WiretapeProxy", "WiretapeReplay", "WiretapeReport", "WiretapePlayback", "WiretapeFaults",
                "WiretapeProtocol", "WiretapeRedaction", "WiretapeWire", "WiretapeRuntime", "WiretapeBytes",
            ], swiftSettings: settings),
        .target(
            name: "WiretapeControl",
            dependencies: [
                "WiretapeReplayServer", "WiretapeProxy", "WiretapeRecorder", "WiretapeTape", "WiretapeIntercept",
                "WiretapeReplay", "WiretapeReport", "WiretapePlayback", "WiretapeFaults", "WiretapeAttempts",
                "WiretapeProtocol", "WiretapeMessages", "WiretapeRedaction", "WiretapeWire", "WiretapeRuntime",
                "WiretapeBytes",
            ],  // The plugin embeds the files of the web page, Page/, in the program.
            exclude: ["Page"], swiftSettings: settings, plugins: ["EmbedPage"]),
        .target(
            name: "WiretapeTesting",
            dependencies: [
                "WiretapeReplayServer", "WiretapeProxy", "WiretapeRecorder", "WiretapeTape", "WiretapeTLS",
                "WiretapeNet", "WiretapeCodecs", "WiretapeReplay", "WiretapeReport", "WiretapeFaults",
                "WiretapeAttempts", "WiretapeProtocol", "WiretapeMessages", "WiretapeWire", "WiretapeRuntime",
                "WiretapeSystem", "WiretapeBytes",
            ], swiftSettings: settings),
        .target(
            name: "WiretapeSamples",
            dependencies: [
                "WiretapeNet", "WiretapeFaults", "WiretapeProtocol", "WiretapeWire", "WiretapeRuntime",
                "WiretapeSystem", "WiretapeBytes",
            ], swiftSettings: settings),
        .target(
            name: "WiretapeSimulation",
            dependencies: [
                "WiretapeReplay", "WiretapeReport", "WiretapeAttempts", "WiretapeFaults", "WiretapeProtocol",
                "WiretapeMessages", "WiretapeWire", "WiretapeRuntime", "WiretapeBytes",
            ], swiftSettings: settings),
        .target(
            name: "WiretapeFuzz",
            dependencies: [
                "WiretapeSimulation", "WiretapeReplayServer", "WiretapeProxy", "WiretapeCapture", "WiretapeTapeTools",
                "WiretapeRecorder", "WiretapeTape", "WiretapeSettings", "WiretapeCodecs", "WiretapeIntercept",
                "WiretapeReplay", "WiretapeReport", "WiretapeFaults", "WiretapeProtocol", "WiretapeMessages",
                "WiretapeWire", "WiretapeRuntime", "WiretapeBytes",
            ], swiftSettings: settings),
        .target(
            name: "WiretapeCommandLine",
            dependencies: [
                "WiretapeTape", "WiretapeRedaction", "WiretapeWire", "WiretapeRuntime", "WiretapeSystem",
                "WiretapeBytes",
            ], swiftSettings: settings),
        .target(
            name: "WiretapeTapeCommands",
            dependencies: [
                "WiretapeCommandLine", "WiretapeCapture", "WiretapePackets", "WiretapeTapeTools", "WiretapeRecorder",
                "WiretapeTape", "WiretapeCodecs", "WiretapeReplay", "WiretapeFaults", "WiretapeProtocol",
                "WiretapeMessages", "WiretapeRedaction", "WiretapeWire", "WiretapeSystem", "WiretapeBytes",
            ], swiftSettings: settings),
        .target(
            name: "WiretapeServing",
            dependencies: [
                "WiretapeCommandLine", "WiretapeControl", "WiretapeReplayServer", "WiretapeProxy", "WiretapeTapeTools",
                "WiretapeRecorder", "WiretapeTape", "WiretapeSettings", "WiretapeTLS", "WiretapeNet", "WiretapeCodecs",
                "WiretapeIntercept", "WiretapeReplay", "WiretapeReport", "WiretapeFaults", "WiretapeAttempts",
                "WiretapeProtocol", "WiretapeRedaction", "WiretapeWire", "WiretapeRuntime", "WiretapeSystem",
                "WiretapeBytes",
            ], swiftSettings: settings),
        .target(
            name: "WiretapeCommands",
            dependencies: [
                "WiretapeServing", "WiretapeTapeCommands", "WiretapeCommandLine", "WiretapeControl",
                "WiretapeReplayServer", "WiretapeProxy", "WiretapeCapture", "WiretapeTapeTools", "WiretapeRecorder",
                "WiretapeTape", "WiretapeSettings", "WiretapeTLS", "WiretapeNet", "WiretapeCodecs", "WiretapeIntercept",
                "WiretapeReplay", "WiretapeReport", "WiretapeFaults", "WiretapeAttempts", "WiretapeProtocol",
                "WiretapeMessages", "WiretapeWire", "WiretapeRuntime", "WiretapeSystem", "WiretapeBytes",
            ], swiftSettings: settings),
        .executableTarget(name: "embed-page", swiftSettings: settings),
        .plugin(name: "EmbedPage", capability: .buildTool(), dependencies: ["embed-page"]),
        .executableTarget(
            name: "wiretape", dependencies: ["WiretapeCommands", "WiretapeNet", "WiretapeSystem"],
            swiftSettings: settings, linkerSettings: staticRuntime),
        .executableTarget(
            name: "simulate",
            dependencies: ["WiretapeSimulation", "WiretapeCodecs", "WiretapeProtocol", "WiretapeSystem"],
            swiftSettings: settings, linkerSettings: staticRuntime),
        .executableTarget(
            name: "sample-hub", dependencies: ["WiretapeSamples", "WiretapeSystem"], swiftSettings: settings,
            linkerSettings: staticRuntime),
        .executableTarget(
            name: "sample-client", dependencies: ["WiretapeSamples", "WiretapeSystem"], swiftSettings: settings,
            linkerSettings: staticRuntime),
        // The client of Examples/swift: two test targets use it, too. Its settings are those of its own package.
        .target(name: "ExampleChat", path: "Examples/swift/Sources/Chat"),
        .testTarget(name: "WiretapeBytesTests", dependencies: ["WiretapeBytes"], swiftSettings: testSettings),
        .testTarget(
            name: "WiretapeRuntimeTests", dependencies: ["WiretapeRuntime", "WiretapeBytes"],
            swiftSettings: testSettings),
        .testTarget(name: "WiretapeSystemTests", dependencies: ["WiretapeSystem"], swiftSettings: testSettings),
        .testTarget(
            name: "WiretapeWireTests", dependencies: ["WiretapeWire", "WiretapeBytes"], swiftSettings: testSettings),
        .testTarget(
            name: "WiretapeRedactionTests", dependencies: ["WiretapeRedaction", "WiretapeWire", "WiretapeBytes"],
            swiftSettings: testSettings),
        .testTarget(
            name: "WiretapeProtocolTests", dependencies: ["WiretapeProtocol", "WiretapeBytes"],
            swiftSettings: testSettings),
        .testTarget(
            name: "WiretapeAttemptsTests",
            dependencies: [
                "WiretapeAttempts", "WiretapeProtocol", "WiretapeMessages", "WiretapeWire", "WiretapeBytes",
            ], swiftSettings: testSettings),
        .testTarget(
            name: "WiretapeFaultsTests",
            dependencies: [
                "WiretapeSettings", "WiretapeFaults", "WiretapeAttempts", "WiretapeProtocol", "WiretapeMessages",
                "WiretapeWire", "WiretapeBytes",
            ], swiftSettings: testSettings),
        .testTarget(
            name: "WiretapePlaybackTests",
            dependencies: [
                "WiretapePlayback", "WiretapeFaults", "WiretapeProtocol", "WiretapeMessages", "WiretapeWire",
                "WiretapeRuntime", "WiretapeBytes",
            ], swiftSettings: testSettings),
        .testTarget(
            name: "WiretapeReportTests", dependencies: ["WiretapeReport", "WiretapeAttempts", "WiretapeWire"],
            swiftSettings: testSettings),
        .testTarget(
            name: "WiretapeReplayTests",
            dependencies: [
                "WiretapeSimulation", "WiretapeTapeTools", "WiretapeRecorder", "WiretapeTape", "WiretapeSettings",
                "WiretapeCodecs", "WiretapeIntercept", "WiretapeReplay", "WiretapeReport", "WiretapeFaults",
                "WiretapeAttempts", "WiretapeProtocol", "WiretapeMessages", "WiretapeRedaction", "WiretapeWire",
                "WiretapeRuntime", "WiretapeBytes",
            ], swiftSettings: testSettings),
        .testTarget(
            name: "WiretapeInterceptTests",
            dependencies: [
                "WiretapeCodecs", "WiretapeIntercept", "WiretapeReport", "WiretapeFaults", "WiretapeAttempts",
                "WiretapeWire", "WiretapeRuntime", "WiretapeBytes",
            ], swiftSettings: testSettings),
        .testTarget(
            name: "WiretapeCodecsTests",
            dependencies: [
                "WiretapeRecorder", "WiretapeTape", "WiretapeCodecs", "WiretapeFaults", "WiretapeProtocol",
                "WiretapeMessages", "WiretapeWire", "WiretapeBytes",
            ], swiftSettings: testSettings),
        .testTarget(
            name: "WiretapeNetTests",
            dependencies: ["WiretapeNet", "WiretapeRuntime", "WiretapeSystem", "WiretapeBytes"],
            swiftSettings: testSettings),
        .testTarget(
            name: "WiretapeTLSTests", dependencies: ["WiretapeTLS", "WiretapeSystem", "WiretapeBytes"],
            swiftSettings: testSettings),
        .testTarget(
            name: "WiretapeSettingsTests", dependencies: ["WiretapeSettings", "WiretapeFaults", "WiretapeBytes"],
            swiftSettings: testSettings),
        .testTarget(
            name: "WiretapeTapeTests",
            dependencies: [
                "WiretapeTapeTools", "WiretapeRecorder", "WiretapeTape", "WiretapeCodecs", "WiretapeFaults",
                "WiretapeProtocol", "WiretapeRedaction", "WiretapeWire", "WiretapeSystem", "WiretapeBytes",
            ], swiftSettings: testSettings),
        .testTarget(
            name: "WiretapeRecorderTests",
            dependencies: [
                "WiretapeSimulation", "WiretapeRecorder", "WiretapeTape", "WiretapeProtocol", "WiretapeWire",
                "WiretapeRuntime", "WiretapeBytes",
            ], swiftSettings: testSettings),
        .testTarget(
            name: "WiretapeCaptureTests",
            dependencies: [
                "WiretapeCapture", "WiretapePackets", "WiretapeTapeTools", "WiretapeTape", "WiretapeCodecs",
                "WiretapeProtocol", "WiretapeWire", "WiretapeBytes",
            ], swiftSettings: testSettings),
        .testTarget(
            name: "WiretapeProxyTests",
            dependencies: [
                "WiretapeSimulation", "WiretapeSamples", "WiretapeReplayServer", "WiretapeProxy", "WiretapeTapeTools",
                "WiretapeRecorder", "WiretapeTape", "WiretapeTLS", "WiretapeNet", "WiretapeCodecs", "WiretapeIntercept",
                "WiretapeReplay", "WiretapeReport", "WiretapeFaults", "WiretapeAttempts", "WiretapeProtocol",
                "WiretapeMessages", "WiretapeWire", "WiretapeRuntime", "WiretapeBytes",
            ], swiftSettings: testSettings),
        .testTarget(
            name: "WiretapeControlTests",
            dependencies: [
                "WiretapeControl", "WiretapeReplayServer", "WiretapeProxy", "WiretapeTape", "WiretapeNet",
                "WiretapeCodecs", "WiretapeReplay", "WiretapeFaults", "WiretapeProtocol", "WiretapeWire",
                "WiretapeRuntime", "WiretapeBytes", "ExampleChat",
            ], swiftSettings: testSettings),
        .testTarget(
            name: "WiretapeTestingTests",
            dependencies: [
                "WiretapeTesting", "WiretapeProxy", "WiretapeTLS", "WiretapeNet", "WiretapeRuntime", "WiretapeSystem",
                "WiretapeBytes", "ExampleChat",
            ], swiftSettings: testSettings),
        .testTarget(name: "WiretapeFuzzTests", dependencies: ["WiretapeFuzz"], swiftSettings: testSettings),
        .testTarget(
            name: "WiretapeCommandTests",
            dependencies: [
                "WiretapeCommands", "WiretapeServing", "WiretapeTapeCommands", "WiretapeCommandLine",
                "WiretapeTapeTools", "WiretapeRecorder", "WiretapeTape", "WiretapeReport", "WiretapeFaults",
                "WiretapeProtocol", "WiretapeWire", "WiretapeBytes",
            ], swiftSettings: testSettings),
    ]
)

// Only a compiler that is asked for libFuzzer has it. tools/fuzz asks.
if Context.environment["WIRETAPE_FUZZ"] != nil {
    package.targets += [
        .systemLibrary(name: "CWiretapeFuzzer"),
        .executableTarget(
            name: "fuzz", dependencies: ["WiretapeFuzz", "WiretapeSystem", "CWiretapeFuzzer"], swiftSettings: settings),
    ]
}

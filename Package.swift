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

// What each target may import is stated in docs/architecture.md and checked by tools/check-layers.
let package = Package(
    name: "wiretape",
    platforms: [.macOS(.v15)],
    products: [
        .executable(name: "wiretape", targets: ["wiretape"])
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
        .target(
            name: "WiretapeCore", dependencies: ["WiretapeBytes"], swiftSettings: settings,
            // Nothing in Core imports Glibc, and conversions between Double and integers need libm.
            linkerSettings: [.linkedLibrary("m", .when(platforms: [.linux]))]),
        .target(
            name: "WiretapeNet", dependencies: ["WiretapeCore", "WiretapeBytes", "WiretapeSystem", "CWiretapeUV"],
            swiftSettings: settings),
        .target(
            name: "WiretapeTLS", dependencies: ["WiretapeCore", "WiretapeBytes", "WiretapeSystem", "CWiretapeOpenSSL"],
            swiftSettings: settings),
        .target(
            name: "WiretapeSettings", dependencies: ["WiretapeCore", "WiretapeBytes", "CWiretapeYAML"],
            swiftSettings: settings),
        .target(
            name: "WiretapeTape", dependencies: ["WiretapeCore", "WiretapeBytes", "WiretapeSystem"],
            swiftSettings: settings),
        .target(name: "WiretapeCodecs", dependencies: ["WiretapeCore", "WiretapeBytes"], swiftSettings: settings),
        .target(
            name: "WiretapeProxy",
            dependencies: [
                "WiretapeTLS", "WiretapeCodecs", "WiretapeTape", "WiretapeCore", "WiretapeBytes", "WiretapeSystem",
            ],
            swiftSettings: settings),
        .target(
            name: "WiretapeSamples",
            dependencies: [
                "WiretapeNet", "WiretapeProxy", "WiretapeCodecs", "WiretapeTape", "WiretapeCore", "WiretapeBytes",
                "WiretapeSystem",
            ],
            swiftSettings: settings),
        .target(name: "WiretapeSimulation", dependencies: ["WiretapeCore", "WiretapeBytes"], swiftSettings: settings),
        .executableTarget(
            name: "wiretape",
            dependencies: [
                "WiretapeProxy", "WiretapeNet", "WiretapeTLS", "WiretapeSettings", "WiretapeCodecs", "WiretapeTape",
                "WiretapeCore", "WiretapeBytes", "WiretapeSystem",
            ],
            swiftSettings: settings),
        .executableTarget(
            name: "simulate",
            dependencies: ["WiretapeSimulation", "WiretapeCodecs", "WiretapeCore", "WiretapeSystem"],
            swiftSettings: settings),
        .target(
            name: "WiretapeFuzz",
            dependencies: [
                "WiretapeProxy", "WiretapeSettings", "WiretapeSimulation", "WiretapeCodecs", "WiretapeTape",
                "WiretapeCore", "WiretapeBytes",
            ],
            swiftSettings: settings),
        .executableTarget(name: "sample-hub", dependencies: ["WiretapeSamples"], swiftSettings: settings),
        .executableTarget(name: "sample-client", dependencies: ["WiretapeSamples"], swiftSettings: settings),
        .testTarget(
            name: "WiretapeBytesTests", dependencies: ["WiretapeBytes"], swiftSettings: settings),
        .testTarget(
            name: "WiretapeCoreTests", dependencies: ["WiretapeCore", "WiretapeBytes"], swiftSettings: settings),
        .testTarget(
            name: "WiretapeNetTests",
            dependencies: ["WiretapeNet", "WiretapeTLS", "WiretapeCore", "WiretapeBytes", "WiretapeSystem"],
            swiftSettings: settings),
        .testTarget(
            name: "WiretapeTapeTests",
            dependencies: ["WiretapeCodecs", "WiretapeTape", "WiretapeCore", "WiretapeBytes", "WiretapeSystem"],
            swiftSettings: settings),
        .testTarget(
            name: "WiretapeCodecsTests",
            dependencies: ["WiretapeCodecs", "WiretapeTape", "WiretapeCore", "WiretapeBytes", "WiretapeSystem"],
            swiftSettings: settings),
        .testTarget(
            name: "WiretapeReplayTests",
            dependencies: [
                "WiretapeSimulation", "WiretapeCodecs", "WiretapeSettings", "WiretapeTape", "WiretapeCore",
                "WiretapeBytes", "WiretapeSystem",
            ],
            swiftSettings: settings),
        .testTarget(
            name: "WiretapeProxyTests",
            dependencies: [
                "WiretapeProxy", "WiretapeSimulation", "WiretapeSamples", "WiretapeNet", "WiretapeTLS",
                "WiretapeCodecs", "WiretapeTape", "WiretapeCore", "WiretapeBytes", "WiretapeSystem",
            ],
            swiftSettings: settings),
        .testTarget(
            name: "WiretapeFuzzTests", dependencies: ["WiretapeFuzz"], swiftSettings: settings),
        .testTarget(
            name: "WiretapeCommandTests",
            dependencies: [
                "wiretape", "WiretapeTape", "WiretapeCore", "WiretapeBytes", "WiretapeSystem",
            ],
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

// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "chat",
    platforms: [.macOS(.v15)],
    products: [.library(name: "Chat", targets: ["Chat"])],
    dependencies: [.package(name: "wiretape", path: "../..")],
    targets: [
        // The client knows nothing of Wiretape.
        .target(name: "Chat"),
        .testTarget(name: "ChatTests", dependencies: ["Chat", .product(name: "WiretapeTesting", package: "wiretape")]),
    ]
)

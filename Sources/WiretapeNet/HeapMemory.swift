#if canImport(Glibc)
    internal import CWiretapeUV
#endif

/// The C library's heap.
package enum HeapMemory {
    /// From 256 KiB on each allocation gets pages of its own, which go back to the system when it is freed. By itself glibc
    /// raises that limit with every large array that grows, up to 32 MiB, and keeps the freed ones.
    package static func returnLargeBlocks() {
        #if canImport(Glibc)
            _ = mallopt(M_MMAP_THRESHOLD, 256 << 10)
        #endif
    }

    /// Gives free pages back to the system.
    package static func trim() {
        #if canImport(Glibc)
            _ = malloc_trim(0)
        #endif
    }
}

"""A content coding of one body, flushed piece by piece."""

import zlib

import brotli
import zstandard


class Coder:
    def __init__(self, coding):
        if coding in ("gzip", "deflate"):
            one = zlib.compressobj(wbits=31 if coding == "gzip" else 15)
            self.write, self.sync, self.finish = one.compress, lambda: one.flush(zlib.Z_SYNC_FLUSH), one.flush
        elif coding == "br":
            one = brotli.Compressor(quality=5)
            self.write, self.sync, self.finish = one.process, one.flush, one.finish
        else:
            one = zstandard.ZstdCompressor().compressobj()
            self.write, self.finish = one.compress, one.flush
            self.sync = lambda: one.flush(zstandard.COMPRESSOBJ_FLUSH_BLOCK)

    def piece(self, data, last):
        return self.write(data) + (self.finish() if last else self.sync())

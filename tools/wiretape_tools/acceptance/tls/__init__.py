"""TLS towards clients and upstreams, judged from outside with OpenSSL, curl and Python."""

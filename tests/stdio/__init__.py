"""The server over its standard streams: a raw client for both protocol eras, and the Inspector."""

"""`tracelib call`: C and C++ with CALL's pragmas becomes C and C++ with calls of tracelib.h (docs/call.md)."""

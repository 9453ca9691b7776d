"""`tracelib call`: CALL's pragmas in C, C++ and Fortran become calls of the regions' API (docs/call.md)."""

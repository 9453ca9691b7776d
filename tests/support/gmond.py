"""Ganglia's daemon gmond, as far as a client sees it: whoever connects is sent XML, and then the connection is
closed."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

REPLY = b"""<?xml version="1.0" encoding="ISO-8859-1" standalone="yes"?>
<!DOCTYPE GANGLIA_XML [<!ELEMENT GANGLIA_XML (CLUSTER)*>]>
<GANGLIA_XML VERSION="3.7.2" SOURCE="gmond"><CLUSTER NAME="unspecified" LOCALTIME="1">
<HOST NAME="node0.cluster" IP="10.0.0.1" REPORTED="1">
<METRIC NAME="load_one" VAL="0.25" TYPE="float" UNITS=" "/>
<METRIC NAME="cpu_num" VAL="8" TYPE="uint16" UNITS="CPUs"/>
<METRIC NAME="os_name" VAL="Linux" TYPE="string" UNITS=""/></HOST>
<HOST NAME="node1.cluster" IP="10.0.0.2" REPORTED="1"><METRIC NAME="load_one" VAL="1.5" TYPE="float" UNITS=" "/></HOST>
</CLUSTER></GANGLIA_XML>
"""


@contextmanager
def gmond_server(reply: bytes = REPLY) -> Iterator[str]:
    """Its address, HOST:PORT."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        stop = threading.Event()
        server.settimeout(0.1)

        def serve() -> None:
            while not stop.is_set():
                try:
                    connection, _ = server.accept()
                except TimeoutError:
                    continue
                with connection:
                    for first in range(0, len(reply), 100):
                        connection.sendall(reply[first : first + 100])

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield f"127.0.0.1:{server.getsockname()[1]}"
        finally:
            stop.set()
            thread.join()

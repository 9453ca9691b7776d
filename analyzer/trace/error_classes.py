"""Names of MPI's error classes, by the numbers of the standard ABI (MPI 5.0, appendix A), which our files use."""

from tracelib.schema import CALL_WAS_LEFT

_CLASSES = """
BUFFER COUNT TYPE TAG COMM RANK REQUEST ROOT GROUP OP TOPOLOGY DIMS ARG UNKNOWN TRUNCATE OTHER INTERN PENDING
IN_STATUS ACCESS AMODE ASSERT BAD_FILE BASE CONVERSION DISP DUP_DATAREP FILE_EXISTS FILE_IN_USE FILE INFO_KEY
INFO_NOKEY INFO_VALUE INFO IO KEYVAL LOCKTYPE NAME NO_MEM NOT_SAME NO_SPACE NO_SUCH_FILE PORT QUOTA READ_ONLY
RMA_ATTACH RMA_CONFLICT RMA_RANGE RMA_SHARED RMA_SYNC SERVICE SIZE SPAWN UNSUPPORTED_DATAREP UNSUPPORTED_OPERATION WIN
RMA_FLAVOR PROC_ABORTED VALUE_TOO_LARGE SESSION ERRHANDLER ABI
"""
"""Names of MPI's error classes without MPI_ERR_, in order from number 1 on."""

_TOOL_CLASSES = """
CANNOT_INIT NOT_ACCESSIBLE NOT_INITIALIZED NOT_SUPPORTED MEMORY INVALID INVALID_INDEX INVALID_ITEM INVALID_SESSION
INVALID_HANDLE INVALID_NAME OUT_OF_HANDLES OUT_OF_SESSIONS CVAR_SET_NOT_NOW CVAR_SET_NEVER PVAR_NO_WRITE
PVAR_NO_STARTSTOP PVAR_NO_ATOMIC
"""
"""Names of the error classes of MPI's tool interface without MPI_T_ERR_, in order from number 1001 on."""

ERROR_CLASSES: dict[int, str] = {number: f"MPI_ERR_{name}" for number, name in enumerate(_CLASSES.split(), 1)}
ERROR_CLASSES |= {number: f"MPI_T_ERR_{name}" for number, name in enumerate(_TOOL_CLASSES.split(), 1001)}

ERROR_CLASSES[CALL_WAS_LEFT] = "left by longjmp or an exception"

_NOT_OF_THE_STANDARD = 1 << 16


def error_name(number: int) -> str:
    """Return the name of an error class, such as "MPI_ERR_RANK".

    A class that the program or the MPI library made has no name: "error class 93", with the number that MPI gave it.
    """
    return ERROR_CLASSES.get(number, f"error class {number % _NOT_OF_THE_STANDARD}")

#include "places/internal/python_lines.h"
#include "places/internal/python_text.h"
#include "places/python.h"

bool python_describe(const struct python_frame *frame, char *file, size_t file_room, char *function,
                     size_t function_room, uint32_t *line)
{
    const struct python_process *python = python_process();
    const char *code = frame->code;
    if (!python) return false;
    const struct python_layout *l = &python->layout;
    if (!python_is(python, code, python->code_type, l->code.lines + sizeof(void *))) return false;
    size_t bytes;
    const unsigned char *table = python_bytes(python, python_pointer(code, l->code.lines), &bytes);
    if (!table || !python_text(python, python_pointer(code, l->code.file), file, file_room) ||
        !python_text(python, python_pointer(code, l->code.function), function, function_room))
        return false;
    *line = python_line(l->minor, table, bytes, python_int(code, l->code.first_line), (intptr_t)frame->instruction);
    return true;
}

/* Events in the order in which they happen. */
#include "state/heap.h"

#include "common/array.h"

enum { ARITY = 4 };

bool heap_push(struct heap *heap, struct due due)
{
    if (heap->n == heap->room && !ARRAY_GROW(heap->at, heap->room, 256)) return false;
    size_t k = heap->n++;
    while (k) {
        size_t parent = (k - 1) / ARITY;
        if (!due_before(&due, &heap->at[parent])) break;
        heap->at[k] = heap->at[parent];
        k = parent;
    }
    heap->at[k] = due;
    return true;
}

struct due heap_pop(struct heap *heap)
{
    struct due top = heap->at[0], last = heap->at[--heap->n];
    size_t k = 0;
    for (;;) {
        size_t first = k * ARITY + 1, least = first;
        if (first >= heap->n) break;
        size_t end = first + ARITY < heap->n ? first + ARITY : heap->n;
        for (size_t i = first + 1; i < end; i++)
            if (due_before(&heap->at[i], &heap->at[least])) least = i;
        if (!due_before(&heap->at[least], &last)) break;
        heap->at[k] = heap->at[least];
        k = least;
    }
    heap->at[k] = last;
    return top;
}

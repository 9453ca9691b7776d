/* Operations of the thread that is being read. */
#include "dimemas/internal/dimstream.h"

void dim_put(struct dim_reader *r, struct op op)
{
    op.burst = r->burst;
    r->burst = 0;
    *r->out++ = op;
    r->lengths[r->stream]++;
}

void dim_put_burst(struct dim_reader *r)
{
    if (r->burst) dim_put(r, (struct op){.kind = OP_NONE, .peer = -1, .request = -1});
}

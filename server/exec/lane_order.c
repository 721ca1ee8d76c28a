/* See lane_order.h. */
#include "exec/lane_order.h"

#include "base/check.h"
#include "base/heap.h"

#include <stdlib.h>
#include <string.h>

static void make_room(struct lane_order *order, uint32_t count, uint32_t lane_count)
{
    if (order->lane_count != lane_count || order->starts == NULL) {
        order->lane_count = lane_count;
        order->starts =
            heap_realloc(order->starts, ((size_t)lane_count + 1) * sizeof *order->starts);
    }
    if (order->capacity < count) {
        free(order->numbers);
        order->capacity = count > UINT32_MAX / 2 ? count : count + count / 2;
        order->numbers = heap_malloc(order->capacity * sizeof *order->numbers);
    }
}

void lane_order_sort(struct lane_order *order, const uint16_t *lanes, uint32_t count,
                     uint32_t lane_count)
{
    make_room(order, count, lane_count);
    uint32_t *starts = order->starts;
    lane_order_clear(order);
    for (uint32_t i = 0; i < count; i++)
        if (lanes[i] != LANE_NONE)
            starts[lanes[i] + 1]++;
    for (uint32_t lane = 0; lane < lane_count; lane++)
        starts[lane + 1] += starts[lane];
    for (uint32_t i = 0; i < count; i++)
        if (lanes[i] != LANE_NONE)
            order->numbers[starts[lanes[i]]++] = i;
    /* Each start had moved to the end of its lane. */
    memmove(starts + 1, starts, lane_count * sizeof *starts);
    starts[0] = 0;
}

void lane_order_clear(struct lane_order *order)
{
    if (order->starts != NULL)
        memset(order->starts, 0, ((size_t)order->lane_count + 1) * sizeof *order->starts);
}

uint32_t lane_order_read(const struct lane_order *order, uint32_t lane, const uint32_t **numbers)
{
    *numbers = NULL;
    if (order->starts == NULL)
        return 0;
    CHECK(lane < order->lane_count);
    uint32_t start = order->starts[lane];
    uint32_t count = order->starts[lane + 1] - start;
    if (count > 0)
        *numbers = order->numbers + start;
    return count;
}

size_t lane_order_bytes(const struct lane_order *order)
{
    return order->capacity * sizeof *order->numbers;
}

void lane_order_fini(struct lane_order *order)
{
    free(order->numbers);
    free(order->starts);
}

/*
 * What a writer has collected, in the order of the partitions it is for: numbers, not copies.
 *
 * Threads: one sorts; then any number read.
 */
#ifndef SERVER_EXEC_LANE_ORDER_H
#define SERVER_EXEC_LANE_ORDER_H

#include <stddef.h>
#include <stdint.h>

#define LANE_NONE UINT16_MAX /* for no partition: left out */

struct lane_order {
    uint32_t *numbers;
    uint32_t capacity;
    uint32_t *starts; /* lane_count + 1, of `numbers` */
    uint32_t lane_count;
};

/* lanes[i] is the partition of number i, below `lane_count`, or LANE_NONE. */
void lane_order_sort(struct lane_order *order, const uint16_t *lanes, uint32_t count,
                     uint32_t lane_count);
/* Nothing is for anybody, until the next sort. */
void lane_order_clear(struct lane_order *order);
/* The numbers for a partition, ascending; their count.  0 before the first sort. */
uint32_t lane_order_read(const struct lane_order *order, uint32_t lane, const uint32_t **numbers);
size_t lane_order_bytes(const struct lane_order *order);
void lane_order_fini(struct lane_order *order);

#endif

/*
 * See fingerprint_check.h.
 */
#include "worker/fingerprint_check.h"

#include "plan/fingerprint.h"

enum status fingerprint_check(const struct query *query, struct error *err)
{
    const struct run_record *last = checkpoint_last_run(query->checkpoint);
    if (last == NULL || checkpoint_last_intent(query->checkpoint) == NULL ||
        last->fingerprint == query->plan->fingerprint)
        return OK;
    return fingerprint_compare(last->fingerprint_text, query->plan, err);
}

#include "analyze/analyzer.h"

enum status check_query(struct analyzer *analyzer, struct error *err)
{
    TRY(analyze_output_mode(analyzer->spec->output_mode, &analyzer->analysis->mode, err));
    return check_streaming(analyzer->analysis, analyzer->analysis->mode, err);
}

/*
 * Expressions back to text.  Every operand that could be read differently stands in parentheses,
 * which leave no trace in the tree; names that are keywords stand in backquotes.
 */
#include "base/check.h"
#include "sql/lexer.h"
#include "sql/print.h"

#define MICROS_PER_SECOND INT64_C(1000000)

/* ---- names ---- */

void print_name(struct buffer *out, const struct ast_name *name)
{
    enum keyword keyword = keyword_find(name->text);
    if (!name->quoted && (keyword == KW_NONE || keyword == KW_ALL)) {
        buffer_add_bytes(out, name->text);
        return;
    }
    buffer_add_byte(out, '`');
    for (size_t i = 0; i < name->text.size_bytes; i++) {
        if (name->text.data[i] == '`')
            buffer_add_byte(out, '`');
        buffer_add_byte(out, name->text.data[i]);
    }
    buffer_add_byte(out, '`');
}

void print_names(struct buffer *out, const struct ast_name_list *names)
{
    for (size_t i = 0; i < names->count; i++) {
        buffer_add_text(out, i > 0 ? ", " : "");
        print_name(out, &names->items[i]);
    }
}

void print_path(struct buffer *out, const struct ast_path *path)
{
    if (path->identifier != NULL) {
        buffer_add_text(out, "IDENTIFIER(");
        ast_expr_print(out, path->identifier);
        buffer_add_byte(out, ')');
    }
    for (size_t i = 0; i < path->count; i++) {
        buffer_add_text(out, i > 0 ? "." : "");
        print_name(out, &path->parts[i]);
    }
}

void print_paths(struct buffer *out, const struct ast_path_list *paths)
{
    for (size_t i = 0; i < paths->count; i++) {
        buffer_add_text(out, i > 0 ? ", " : "");
        print_path(out, &paths->items[i]);
    }
}

/* ---- literals ---- */

void print_string(struct buffer *out, struct bytes text)
{
    buffer_add_byte(out, '\'');
    for (size_t i = 0; i < text.size_bytes; i++) {
        if (text.data[i] == '\'' || text.data[i] == '\\')
            buffer_add_byte(out, '\\');
        buffer_add_byte(out, text.data[i]);
    }
    buffer_add_byte(out, '\'');
}

static int64_t unit_micros(enum ast_unit unit)
{
    switch (unit) {
    case AST_UNIT_DAY:
        return 86400 * MICROS_PER_SECOND;
    case AST_UNIT_HOUR:
        return 3600 * MICROS_PER_SECOND;
    case AST_UNIT_MINUTE:
        return 60 * MICROS_PER_SECOND;
    default:
        return MICROS_PER_SECOND;
    }
}

/* 'amount' UNIT; of seconds with the fraction. */
static void print_amount(struct buffer *out, int64_t whole, int64_t micros, enum ast_unit unit)
{
    bool negative = whole < 0 || micros < 0;
    uint64_t size = negative ? 0 - (uint64_t)whole : (uint64_t)whole;
    buffer_printf(out, " '%s%llu", negative ? "-" : "", (unsigned long long)size);
    if (micros != 0)
        buffer_printf(out, ".%06lld", (long long)(micros < 0 ? -micros : micros));
    buffer_printf(out, "' %s", ast_unit_name(unit));
}

static void print_interval(struct buffer *out, const struct ast_literal *literal)
{
    buffer_add_text(out, "INTERVAL");
    int64_t rest = literal->integer;
    if (literal->kind == AST_LITERAL_YEAR_MONTH) {
        if (literal->from == AST_UNIT_YEAR) {
            print_amount(out, rest / 12, 0, AST_UNIT_YEAR);
            rest %= 12;
        }
        if (literal->to == AST_UNIT_MONTH)
            print_amount(out, rest, 0, AST_UNIT_MONTH);
        return;
    }
    if (literal->from != literal->to) {
        print_amount(out, rest / unit_micros(literal->from), 0, literal->from);
        rest %= unit_micros(literal->from);
    }
    int64_t last = unit_micros(literal->to);
    print_amount(out, rest / last, literal->to == AST_UNIT_SECOND ? rest % last : 0, literal->to);
}

static void print_binary(struct buffer *out, struct bytes bytes)
{
    buffer_add_text(out, "X'");
    for (size_t i = 0; i < bytes.size_bytes; i++)
        buffer_printf(out, "%02X", bytes.data[i]);
    buffer_add_byte(out, '\'');
}

static void print_typed(struct buffer *out, const char *type, struct bytes text)
{
    buffer_add_text(out, type);
    buffer_add_byte(out, ' ');
    print_string(out, text);
}

static void print_literal(struct buffer *out, const struct ast_literal *literal)
{
    long long integer = (long long)literal->integer;
    switch (literal->kind) {
    case AST_LITERAL_NULL:
        buffer_add_text(out, "NULL");
        break;
    case AST_LITERAL_BOOLEAN:
        buffer_add_text(out, literal->boolean ? "TRUE" : "FALSE");
        break;
    case AST_LITERAL_TINYINT:
        buffer_printf(out, "%lldY", integer);
        break;
    case AST_LITERAL_SMALLINT:
        buffer_printf(out, "%lldS", integer);
        break;
    case AST_LITERAL_INT:
        buffer_printf(out, "%lld", integer);
        break;
    case AST_LITERAL_BIGINT:
        buffer_printf(out, "%lldL", integer);
        break;
    case AST_LITERAL_DECIMAL:
        buffer_add_bytes(out, literal->text);
        buffer_add_text(out, "BD");
        break;
    case AST_LITERAL_FLOAT:
        buffer_printf(out, "%.9gF", literal->floating);
        break;
    case AST_LITERAL_DOUBLE:
        buffer_printf(out, "%.17gD", literal->floating);
        break;
    case AST_LITERAL_STRING:
        print_string(out, literal->text);
        break;
    case AST_LITERAL_BINARY:
        print_binary(out, literal->text);
        break;
    case AST_LITERAL_DATE:
        print_typed(out, "DATE", literal->text);
        break;
    case AST_LITERAL_TIMESTAMP:
        print_typed(out, "TIMESTAMP", literal->text);
        break;
    case AST_LITERAL_TIMESTAMP_LTZ:
        print_typed(out, "TIMESTAMP_LTZ", literal->text);
        break;
    case AST_LITERAL_TIMESTAMP_NTZ:
        print_typed(out, "TIMESTAMP_NTZ", literal->text);
        break;
    case AST_LITERAL_TIME:
        print_typed(out, "TIME", literal->text);
        break;
    case AST_LITERAL_YEAR_MONTH:
    case AST_LITERAL_DAY_TIME:
        print_interval(out, literal);
        break;
    }
}

/* ---- types ---- */

static const char *const type_texts[] = {
    [AST_TYPE_BOOLEAN] = "BOOLEAN",
    [AST_TYPE_TINYINT] = "TINYINT",
    [AST_TYPE_SMALLINT] = "SMALLINT",
    [AST_TYPE_INT] = "INT",
    [AST_TYPE_BIGINT] = "BIGINT",
    [AST_TYPE_FLOAT] = "FLOAT",
    [AST_TYPE_DOUBLE] = "DOUBLE",
    [AST_TYPE_DECIMAL] = "DECIMAL",
    [AST_TYPE_STRING] = "STRING",
    [AST_TYPE_CHAR] = "CHAR",
    [AST_TYPE_VARCHAR] = "VARCHAR",
    [AST_TYPE_BINARY] = "BINARY",
    [AST_TYPE_DATE] = "DATE",
    [AST_TYPE_TIME] = "TIME",
    [AST_TYPE_TIMESTAMP] = "TIMESTAMP",
    [AST_TYPE_TIMESTAMP_LTZ] = "TIMESTAMP_LTZ",
    [AST_TYPE_TIMESTAMP_NTZ] = "TIMESTAMP_NTZ",
    [AST_TYPE_INTERVAL] = "INTERVAL",
    [AST_TYPE_VOID] = "VOID",
    [AST_TYPE_VARIANT] = "VARIANT",
    [AST_TYPE_ARRAY] = "ARRAY",
    [AST_TYPE_MAP] = "MAP",
    [AST_TYPE_STRUCT] = "STRUCT",
};

static void print_field(struct buffer *out, const struct ast_type_field *field)
{
    print_name(out, &field->name);
    buffer_add_text(out, ": ");
    ast_type_print(out, field->type);
    buffer_add_text(out, field->not_null ? " NOT NULL" : "");
    if (field->has_comment) {
        buffer_add_text(out, " COMMENT ");
        print_string(out, field->comment);
    }
}

void ast_type_print(struct buffer *out, const struct ast_type *type)
{
    buffer_add_text(out, type_texts[type->kind]);
    switch (type->kind) {
    case AST_TYPE_DECIMAL:
        buffer_printf(out, "(%d, %d)", type->precision, type->scale);
        break;
    case AST_TYPE_CHAR:
    case AST_TYPE_VARCHAR:
        buffer_printf(out, "(%d)", type->length);
        break;
    case AST_TYPE_TIME:
        buffer_printf(out, "(%d)", type->precision);
        break;
    case AST_TYPE_STRING:
        buffer_add_text(out, type->collation.size_bytes > 0 ? " COLLATE " : "");
        buffer_add_bytes(out, type->collation);
        break;
    case AST_TYPE_INTERVAL:
        buffer_printf(out, "%s%s", type->from != 0 ? " " : "", ast_unit_name(type->from));
        if (type->to != type->from)
            buffer_printf(out, " TO %s", ast_unit_name(type->to));
        break;
    case AST_TYPE_ARRAY:
    case AST_TYPE_MAP:
        buffer_add_byte(out, '<');
        if (type->key != NULL) {
            ast_type_print(out, type->key);
            buffer_add_text(out, ", ");
        }
        ast_type_print(out, type->element);
        buffer_add_byte(out, '>');
        break;
    case AST_TYPE_STRUCT:
        buffer_add_byte(out, '<');
        for (size_t i = 0; i < type->field_count; i++) {
            buffer_add_text(out, i > 0 ? ", " : "");
            print_field(out, &type->fields[i]);
        }
        buffer_add_byte(out, '>');
        break;
    default:
        break;
    }
}

/* ---- operators ---- */

static const char *const operator_texts[] = {
    [AST_OP_NEGATE] = "-",       [AST_OP_PLUS] = "+",
    [AST_OP_BIT_NOT] = "~",      [AST_OP_NOT] = "NOT ",
    [AST_OP_MULTIPLY] = "*",     [AST_OP_DIVIDE] = "/",
    [AST_OP_REMAINDER] = "%",    [AST_OP_DIV] = "DIV",
    [AST_OP_ADD] = "+",          [AST_OP_SUBTRACT] = "-",
    [AST_OP_CONCAT] = "||",      [AST_OP_SHIFT_LEFT] = "<<",
    [AST_OP_SHIFT_RIGHT] = ">>", [AST_OP_SHIFT_RIGHT_UNSIGNED] = ">>>",
    [AST_OP_BIT_AND] = "&",      [AST_OP_BIT_XOR] = "^",
    [AST_OP_BIT_OR] = "|",       [AST_OP_EQUAL] = "=",
    [AST_OP_NULL_EQUAL] = "<=>", [AST_OP_NOT_EQUAL] = "<>",
    [AST_OP_LESS] = "<",         [AST_OP_LESS_EQUAL] = "<=",
    [AST_OP_GREATER] = ">",      [AST_OP_GREATER_EQUAL] = ">=",
    [AST_OP_AND] = "AND",        [AST_OP_OR] = "OR",
};

/* An expression where only an operand may stand. */
static void print_operand(struct buffer *out, const struct ast_expr *expr)
{
    bool bare = expr->kind == AST_EXPR_COLUMN || expr->kind == AST_EXPR_SUBQUERY ||
                expr->kind == AST_EXPR_ROW || expr->kind == AST_EXPR_PARAMETER;
    buffer_add_text(out, bare ? "" : "(");
    ast_expr_print(out, expr);
    buffer_add_text(out, bare ? "" : ")");
}

static void print_like(struct buffer *out, const struct ast_expr *expr)
{
    static const char *const words[] = {
        [AST_LIKE] = "LIKE", [AST_ILIKE] = "ILIKE", [AST_RLIKE] = "RLIKE"};
    print_operand(out, expr->like.value);
    buffer_printf(out, "%s %s ", expr->negated ? " NOT" : "", words[expr->like.kind]);
    if (expr->like.quantifier != AST_LIKE_ONE) {
        buffer_add_text(out, expr->like.quantifier == AST_LIKE_ALL ? "ALL (" : "ANY (");
        print_exprs(out, &expr->like.patterns);
        buffer_add_byte(out, ')');
        return;
    }
    print_operand(out, expr->like.pattern);
    if (expr->like.has_escape) {
        buffer_add_text(out, " ESCAPE ");
        print_string(out, expr->like.escape);
    }
}

static void print_is(struct buffer *out, const struct ast_expr *expr)
{
    static const char *const words[] = {
        [AST_IS_NULL] = "NULL",
        [AST_IS_TRUE] = "TRUE",
        [AST_IS_FALSE] = "FALSE",
        [AST_IS_UNKNOWN] = "UNKNOWN",
        [AST_IS_DISTINCT_FROM] = "DISTINCT FROM ",
    };
    print_operand(out, expr->is.value);
    buffer_printf(out, " IS %s%s", expr->negated ? "NOT " : "", words[expr->is.test]);
    if (expr->is.other != NULL)
        print_operand(out, expr->is.other);
}

static void print_operator(struct buffer *out, const struct ast_expr *expr)
{
    const char *negated = expr->negated ? " NOT" : "";
    switch (expr->kind) {
    case AST_EXPR_UNARY:
        buffer_add_text(out, operator_texts[expr->op]);
        print_operand(out, expr->operands.left);
        break;
    case AST_EXPR_BINARY:
        print_operand(out, expr->operands.left);
        buffer_printf(out, " %s ", operator_texts[expr->op]);
        print_operand(out, expr->operands.right);
        break;
    case AST_EXPR_BETWEEN:
        print_operand(out, expr->between.value);
        buffer_printf(out, "%s BETWEEN ", negated);
        print_operand(out, expr->between.low);
        buffer_add_text(out, " AND ");
        print_operand(out, expr->between.high);
        break;
    case AST_EXPR_IN:
        print_operand(out, expr->in.value);
        buffer_printf(out, "%s IN (", negated);
        if (expr->in.query != NULL)
            ast_query_print(out, expr->in.query);
        else
            print_exprs(out, &expr->in.list);
        buffer_add_byte(out, ')');
        break;
    case AST_EXPR_LIKE:
        print_like(out, expr);
        break;
    default:
        print_is(out, expr);
        break;
    }
}

/* ---- calls and forms ---- */

static void print_bound(struct buffer *out, const struct ast_bound *bound)
{
    static const char *const words[] = {
        [AST_BOUND_UNBOUNDED_PRECEDING] = "UNBOUNDED PRECEDING",
        [AST_BOUND_PRECEDING] = " PRECEDING",
        [AST_BOUND_CURRENT_ROW] = "CURRENT ROW",
        [AST_BOUND_FOLLOWING] = " FOLLOWING",
        [AST_BOUND_UNBOUNDED_FOLLOWING] = "UNBOUNDED FOLLOWING",
    };
    if (bound->expr != NULL)
        print_operand(out, bound->expr);
    buffer_add_text(out, words[bound->kind]);
}

void print_window(struct buffer *out, const struct ast_window *window)
{
    buffer_add_byte(out, '(');
    if (window->is_reference)
        print_name(out, &window->reference);
    if (window->partition_by.count > 0) {
        buffer_add_text(out, "PARTITION BY ");
        print_exprs(out, &window->partition_by);
    }
    if (window->order_by.count > 0) {
        buffer_add_text(out, " ORDER BY ");
        print_sorts(out, &window->order_by);
    }
    if (window->frame != AST_FRAME_NONE) {
        buffer_add_text(out, window->frame == AST_FRAME_ROWS ? " ROWS " : " RANGE ");
        if (window->end.kind != AST_BOUND_NONE)
            buffer_add_text(out, "BETWEEN ");
        print_bound(out, &window->start);
        if (window->end.kind != AST_BOUND_NONE) {
            buffer_add_text(out, " AND ");
            print_bound(out, &window->end);
        }
    }
    buffer_add_byte(out, ')');
}

void print_args(struct buffer *out, const struct ast_argument_list *args)
{
    for (size_t i = 0; i < args->count; i++) {
        const struct ast_argument *arg = &args->items[i];
        buffer_add_text(out, i > 0 ? ", " : "");
        if (arg->name.text.data != NULL) {
            print_name(out, &arg->name);
            buffer_add_text(out, " => ");
        }
        if (arg->table != NULL) {
            bool query = arg->table->kind == AST_RELATION_SUBQUERY;
            buffer_add_text(out, query ? "TABLE " : "TABLE(");
            print_relation(out, arg->table);
            buffer_add_text(out, query ? "" : ")");
        } else {
            ast_expr_print(out, arg->expr);
        }
    }
}

static void print_call_suffix(struct buffer *out, const struct ast_call *call)
{
    if (call->within_group.count > 0) {
        buffer_add_text(out, " WITHIN GROUP (ORDER BY ");
        print_sorts(out, &call->within_group);
        buffer_add_byte(out, ')');
    }
    if (call->filter != NULL) {
        buffer_add_text(out, " FILTER (WHERE ");
        ast_expr_print(out, call->filter);
        buffer_add_byte(out, ')');
    }
    if (call->nulls != AST_NULLS_UNSAID)
        buffer_add_text(out, call->nulls == AST_NULLS_IGNORE ? " IGNORE NULLS" : " RESPECT NULLS");
    if (call->over != NULL) {
        buffer_add_text(out, " OVER ");
        print_window(out, call->over);
    }
}

static void print_call(struct buffer *out, const struct ast_call *call)
{
    static const char *const separators[][3] = {
        [AST_SYNTAX_SUBSTRING] = {" FROM ", " FOR ", ""},
        [AST_SYNTAX_POSITION] = {" IN ", "", ""},
        [AST_SYNTAX_OVERLAY] = {" PLACING ", " FROM ", " FOR "},
    };
    if (call->syntax != AST_SYNTAX_PLAIN) {
        buffer_add_bytes(out, call->name.parts[0].text);
        buffer_add_byte(out, '(');
        for (size_t i = 0; i < call->args.count; i++) {
            buffer_add_text(out, i > 0 ? separators[call->syntax][i - 1] : "");
            print_operand(out, call->args.items[i].expr);
        }
        buffer_add_byte(out, ')');
        return;
    }
    bool path_function = call->args.count == 0 && call->name.count == 1 &&
                         keyword_find(call->name.parts[0].text) == KW_CURRENT_PATH;
    if (path_function) {
        buffer_add_text(out, "current_path");
    } else {
        print_path(out, &call->name);
        buffer_add_byte(out, '(');
        if (call->quantifier != AST_QUANTIFIER_NONE)
            buffer_add_text(out, call->quantifier == AST_QUANTIFIER_ALL ? "ALL " : "DISTINCT ");
        print_args(out, &call->args);
        buffer_add_byte(out, ')');
    }
    print_call_suffix(out, call);
}

static void print_case(struct buffer *out, const struct ast_expr *expr)
{
    buffer_add_text(out, "CASE");
    if (expr->cases.operand != NULL) {
        buffer_add_byte(out, ' ');
        print_operand(out, expr->cases.operand);
    }
    for (size_t i = 0; i < expr->cases.when_count; i++) {
        buffer_add_text(out, " WHEN ");
        print_operand(out, expr->cases.whens[i].condition);
        buffer_add_text(out, " THEN ");
        print_operand(out, expr->cases.whens[i].result);
    }
    if (expr->cases.otherwise != NULL) {
        buffer_add_text(out, " ELSE ");
        print_operand(out, expr->cases.otherwise);
    }
    buffer_add_text(out, " END");
}

static void print_cast(struct buffer *out, const struct ast_expr *expr)
{
    if (expr->cast.form == AST_CAST_COLONS) {
        print_operand(out, expr->cast.operand);
        buffer_add_text(out, "::");
        ast_type_print(out, expr->cast.type);
        return;
    }
    buffer_add_text(out, expr->cast.form == AST_CAST ? "CAST(" : "TRY_CAST(");
    ast_expr_print(out, expr->cast.operand);
    buffer_add_text(out, " AS ");
    ast_type_print(out, expr->cast.type);
    buffer_add_byte(out, ')');
}

static void print_trim(struct buffer *out, const struct ast_expr *expr)
{
    static const char *const sides[] = {"BOTH ", "LEADING ", "TRAILING "};
    buffer_printf(out, "TRIM(%s", sides[expr->trim.side]);
    if (expr->trim.characters != NULL) {
        print_operand(out, expr->trim.characters);
        buffer_add_byte(out, ' ');
    }
    buffer_add_text(out, "FROM ");
    print_operand(out, expr->trim.source);
    buffer_add_byte(out, ')');
}

static void print_lambda(struct buffer *out, const struct ast_expr *expr)
{
    buffer_add_byte(out, '(');
    print_names(out, &expr->lambda.params);
    buffer_add_text(out, ") -> ");
    ast_expr_print(out, expr->lambda.body);
}

static void print_star(struct buffer *out, const struct ast_expr *expr)
{
    print_path(out, &expr->star.qualifier);
    buffer_add_text(out, expr->star.qualifier.count > 0 ? ".*" : "*");
    if (expr->star.has_except) {
        buffer_add_text(out, " EXCEPT (");
        print_paths(out, &expr->star.except);
        buffer_add_byte(out, ')');
    }
}

static void print_timestamp(struct buffer *out, const struct ast_expr *expr)
{
    buffer_add_bytes(out, expr->timestamp.function.text);
    buffer_add_byte(out, '(');
    buffer_add_bytes(out, expr->timestamp.unit_name.text);
    buffer_add_text(out, ", ");
    print_operand(out, expr->timestamp.first);
    buffer_add_text(out, ", ");
    print_operand(out, expr->timestamp.second);
    buffer_add_byte(out, ')');
}

static void print_json_path(struct buffer *out, const struct ast_expr *expr)
{
    struct bytes path = expr->json_path.path;
    CHECK(path.size_bytes > 1 && path.data[0] == '$');
    size_t skip = path.data[1] == '.' ? 2 : 1;
    print_operand(out, expr->json_path.base);
    buffer_add_byte(out, ':');
    buffer_add_bytes(out, bytes_of(path.data + skip, path.size_bytes - skip));
}

static void print_form(struct buffer *out, const struct ast_expr *expr)
{
    switch (expr->kind) {
    case AST_EXPR_TRIM:
        print_trim(out, expr);
        break;
    case AST_EXPR_EXTRACT:
        buffer_add_text(out, "EXTRACT(");
        print_name(out, &expr->extract.field);
        buffer_add_text(out, " FROM ");
        print_operand(out, expr->extract.source);
        buffer_add_byte(out, ')');
        break;
    case AST_EXPR_TIMESTAMP_ADD:
    case AST_EXPR_TIMESTAMP_DIFF:
        print_timestamp(out, expr);
        break;
    case AST_EXPR_FIELD:
        print_operand(out, expr->field.base);
        buffer_add_byte(out, '.');
        print_name(out, &expr->field.name);
        break;
    case AST_EXPR_SUBSCRIPT:
        print_operand(out, expr->subscript.base);
        buffer_add_byte(out, '[');
        print_operand(out, expr->subscript.index);
        buffer_add_byte(out, ']');
        break;
    case AST_EXPR_COLLATE:
        print_operand(out, expr->collate.operand);
        buffer_add_text(out, " COLLATE ");
        print_path(out, &expr->collate.name);
        break;
    default:
        print_lambda(out, expr);
        break;
    }
}

static void print_parameter(struct buffer *out, const struct ast_expr *expr)
{
    if (expr->parameter.name.text.data == NULL) {
        buffer_add_byte(out, '?');
        return;
    }
    buffer_add_byte(out, ':');
    print_name(out, &expr->parameter.name);
}

void ast_expr_print(struct buffer *out, const struct ast_expr *expr)
{
    switch (expr->kind) {
    case AST_EXPR_LITERAL:
        print_literal(out, &expr->literal);
        break;
    case AST_EXPR_PARAMETER:
        print_parameter(out, expr);
        break;
    case AST_EXPR_COLUMN:
        print_path(out, &expr->column);
        break;
    case AST_EXPR_STAR:
        print_star(out, expr);
        break;
    case AST_EXPR_UNARY:
    case AST_EXPR_BINARY:
    case AST_EXPR_BETWEEN:
    case AST_EXPR_IN:
    case AST_EXPR_LIKE:
    case AST_EXPR_IS:
        print_operator(out, expr);
        break;
    case AST_EXPR_CASE:
        print_case(out, expr);
        break;
    case AST_EXPR_CAST:
        print_cast(out, expr);
        break;
    case AST_EXPR_CALL:
        print_call(out, &expr->call);
        break;
    case AST_EXPR_STRUCT:
    case AST_EXPR_ROW:
        buffer_add_text(out, expr->kind == AST_EXPR_STRUCT ? "STRUCT(" : "(");
        print_items(out, &expr->members);
        buffer_add_byte(out, ')');
        break;
    case AST_EXPR_JSON_PATH:
        print_json_path(out, expr);
        break;
    case AST_EXPR_SUBQUERY:
    case AST_EXPR_EXISTS:
        buffer_add_text(out, expr->kind == AST_EXPR_EXISTS ? "EXISTS (" : "(");
        ast_query_print(out, expr->query);
        buffer_add_byte(out, ')');
        break;
    case AST_EXPR_TRIM:
    case AST_EXPR_EXTRACT:
    case AST_EXPR_TIMESTAMP_ADD:
    case AST_EXPR_TIMESTAMP_DIFF:
    case AST_EXPR_FIELD:
    case AST_EXPR_SUBSCRIPT:
    case AST_EXPR_COLLATE:
    case AST_EXPR_LAMBDA:
        print_form(out, expr);
        break;
    }
}

/* ---- lists ---- */

void print_exprs(struct buffer *out, const struct ast_expr_list *exprs)
{
    for (size_t i = 0; i < exprs->count; i++) {
        buffer_add_text(out, i > 0 ? ", " : "");
        ast_expr_print(out, exprs->items[i]);
    }
}

void print_items(struct buffer *out, const struct ast_item_list *items)
{
    for (size_t i = 0; i < items->count; i++) {
        const struct ast_item *item = &items->items[i];
        buffer_add_text(out, i > 0 ? ", " : "");
        ast_expr_print(out, item->expr);
        if (item->aliases.count == 0)
            continue;
        buffer_add_text(out, item->aliases.count > 1 ? " AS (" : " AS ");
        print_names(out, &item->aliases);
        buffer_add_text(out, item->aliases.count > 1 ? ")" : "");
    }
}

void print_sorts(struct buffer *out, const struct ast_sort_list *sorts)
{
    static const char *const orders[] = {"", " ASC", " DESC"};
    static const char *const nulls[] = {"", " NULLS FIRST", " NULLS LAST"};
    for (size_t i = 0; i < sorts->count; i++) {
        buffer_add_text(out, i > 0 ? ", " : "");
        ast_expr_print(out, sorts->items[i].expr);
        buffer_add_text(out, orders[sorts->items[i].order]);
        buffer_add_text(out, nulls[sorts->items[i].nulls]);
    }
}

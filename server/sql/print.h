/* What the two halves of the printer share; nobody outside sql/ includes this. */
#ifndef SERVER_SQL_PRINT_H
#define SERVER_SQL_PRINT_H

#include "sql/ast.h"

void print_name(struct buffer *out, const struct ast_name *name);
void print_names(struct buffer *out, const struct ast_name_list *names); /* a, b */
void print_path(struct buffer *out, const struct ast_path *path);
void print_paths(struct buffer *out, const struct ast_path_list *paths); /* a.b, c */
void print_string(struct buffer *out, struct bytes text);                /* 'text' */
void print_exprs(struct buffer *out, const struct ast_expr_list *exprs);
void print_items(struct buffer *out, const struct ast_item_list *items);
void print_sorts(struct buffer *out, const struct ast_sort_list *sorts);
void print_args(struct buffer *out, const struct ast_argument_list *args);
void print_window(struct buffer *out, const struct ast_window *window);
void print_relation(struct buffer *out, const struct ast_relation *relation);

#endif

/*
 * LIKE and ILIKE: our own matcher, over UTF-8.
 */
#ifndef SERVER_EXPR_LIKE_H
#define SERVER_EXPR_LIKE_H

#include "expr/resolvers.h"

RESOLVER(resolve_like); /* text, pattern[, escape] */
RESOLVER(resolve_ilike);
RESOLVER(resolve_like_many); /* likeany, likeall, notlikeany, notlikeall: text, patterns */
KERNEL(kernel_like);
KERNEL(kernel_like_many);

#endif

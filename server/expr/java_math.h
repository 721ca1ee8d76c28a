/*
 * Exponentials and logarithms that round as Java's StrictMath does (the polynomials and argument
 * reductions it documents), which differs from the C library's in the last digit.
 */
#ifndef SERVER_EXPR_JAVA_MATH_H
#define SERVER_EXPR_JAVA_MATH_H

double java_exp(double x);
double java_log(double x);
double java_log10(double x);
double java_pow(double x, double y); /* pow(1, NaN) and pow(+-1, Infinity) are NaN */

double java_cbrt(double x);

#endif

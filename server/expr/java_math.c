#include "expr/java_math.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

/* ln 2 in two parts: the first has enough zero bits at the end to be multiplied exactly. */
#define LN2_HIGH 6.93147180369123816490e-01
#define LN2_LOW  1.90821492927058770002e-10

static uint32_t high_word(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof(bits));
    return (uint32_t)(bits >> 32);
}

static double with_high_word(double x, uint32_t high)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof(bits));
    bits = (bits & UINT32_MAX) | (uint64_t)high << 32;
    memcpy(&x, &bits, sizeof(x));
    return x;
}

/* x = k ln 2 + r with |r| <= ln 2 / 2; exp(r) by a rational approximation in r * r. */
double java_exp(double x)
{
    static const double p[] = {1.66666666666666019037e-01, -2.77777777770155933842e-03,
                               6.61375632143793436117e-05, -1.65339022054652515390e-06,
                               4.13813679705723846039e-08};
    uint32_t size = high_word(x) & 0x7FFFFFFF;
    int sign = x < 0 ? -1 : 1;
    if (isnan(x) || x > 7.09782712893383973096e+02)
        return x + (isnan(x) ? 0.0 : (double)INFINITY);
    if (x < -7.45133219101941108420e+02)
        return 0.0;
    int k = 0;
    double high = x;
    double low = 0.0;
    double r = x;
    if (size > 0x3FD62E42) { /* |x| > ln 2 / 2 */
        if (size < 0x3FF0A2B2) {
            k = sign;
            high = x - sign * LN2_HIGH;
            low = sign * LN2_LOW;
        } else {
            k = (int)(1.44269504088896338700e+00 * x + sign * 0.5);
            high = x - k * LN2_HIGH;
            low = k * LN2_LOW;
        }
        r = high - low;
    } else if (size < 0x3E300000) {
        return 1.0 + x;
    }
    double t = r * r;
    double c = r - t * (p[0] + t * (p[1] + t * (p[2] + t * (p[3] + t * p[4]))));
    if (k == 0)
        return 1.0 - ((r * c) / (c - 2.0) - r);
    double y = 1.0 - ((low - (r * c) / (2.0 - c)) - high);
    return ldexp(y, k);
}

/* log(1 + f) as f less a correction; s = f / (2 + f), r the polynomial in s * s. */
static double log_of_reduced(double f, int k, uint32_t mantissa)
{
    static const double g[] = {6.666666666666735130e-01, 3.999999999940941908e-01,
                               2.857142874366239149e-01, 2.222219843214978396e-01,
                               1.818357216161805012e-01, 1.531383769920937332e-01,
                               1.479819860511658591e-01};
    double s = f / (2.0 + f);
    double z = s * s;
    double w = z * z;
    double odd = w * (g[1] + w * (g[3] + w * g[5]));
    double even = z * (g[0] + w * (g[2] + w * (g[4] + w * g[6])));
    double r = even + odd;
    int32_t above = (int32_t)mantissa - 0x6147A;
    int32_t below = 0x6B851 - (int32_t)mantissa;
    if ((above | below) > 0) {
        double half = 0.5 * f * f;
        if (k == 0)
            return f - (half - s * (half + r));
        return k * LN2_HIGH - ((half - (s * (half + r) + k * LN2_LOW)) - f);
    }
    if (k == 0)
        return f - s * (f - r);
    return k * LN2_HIGH - ((s * (f - r) - k * LN2_LOW) - f);
}

/* x = 2^k (1 + f) with sqrt(1/2) < 1 + f < sqrt(2). */
double java_log(double x)
{
    if (isnan(x) || x < 0)
        return (double)NAN;
    if (x == 0.0)
        return -(double)INFINITY;
    if (isinf(x))
        return x;
    int k = 0;
    if (high_word(x) < 0x00100000) { /* subnormal */
        k = -54;
        x *= 1.80143985094819840000e+16;
    }
    uint32_t high = high_word(x);
    k += (int)(high >> 20) - 1023;
    uint32_t mantissa = high & 0xFFFFF;
    uint32_t carry = (mantissa + 0x95F64) & 0x100000;
    x = with_high_word(x, mantissa | (carry ^ 0x3FF00000));
    k += (int)(carry >> 20);
    double f = x - 1.0;
    if ((0xFFFFF & (2 + mantissa)) < 3) { /* |f| < 2^-20 */
        if (f == 0.0)
            return k == 0 ? 0.0 : k * LN2_HIGH + k * LN2_LOW;
        double r = f * f * (0.5 - 0.33333333333333333 * f);
        return k == 0 ? f - r : k * LN2_HIGH - ((r - k * LN2_LOW) - f);
    }
    return log_of_reduced(f, k, mantissa);
}

double java_log10(double x)
{
    if (isnan(x) || x <= 0 || isinf(x))
        return java_log(x);
    int k = 0;
    if (high_word(x) < 0x00100000) {
        k = -54;
        x *= 1.80143985094819840000e+16;
    }
    uint32_t high = high_word(x);
    k += (int)(high >> 20) - 1023;
    int down = k < 0;
    x = with_high_word(x, (high & 0xFFFFF) | (uint32_t)(0x3FF - down) << 20);
    double y = (double)(k + down);
    double z = y * 3.69423907715893078616e-13 + 4.34294481903251816668e-01 * java_log(x);
    return z + y * 3.01029995663611771306e-01;
}

double java_pow(double x, double y)
{
    if (y != 0.0 && (isnan(x) || isnan(y)))
        return (double)NAN;
    if (fabs(x) == 1.0 && isinf(y))
        return (double)NAN;
    return pow(x, y);
}

/* fdlibm: a guess from the exponent, one rational step, one of Newton's. */
double java_cbrt(double x)
{
    const uint32_t b1 = 715094163, b2 = 696219795;
    const double c = 5.42857142857142815906e-01, d = -7.05306122448979611050e-01;
    const double e = 1.41428571428571436819e+00, f = 1.60714285714285720630e+00;
    const double g = 3.57142857142857150787e-01;
    if (x == 0.0 || x - x != 0.0)
        return x;
    double size = x < 0 ? -x : x, guess;
    uint64_t bits;
    memcpy(&bits, &size, sizeof bits);
    uint32_t high = (uint32_t)(bits >> 32);
    if (high < 0x00100000) { /* subnormal */
        guess = 18014398509481984.0 * size;
        memcpy(&bits, &guess, sizeof bits);
        bits = (uint64_t)((uint32_t)(bits >> 32) / 3 + b2) << 32 | (bits & 0xffffffff);
    } else {
        bits = (uint64_t)(high / 3 + b1) << 32;
    }
    memcpy(&guess, &bits, sizeof bits);
    double r = guess * guess / size;
    double s = c + r * guess;
    guess *= g + f / (s + e + d / s);
    memcpy(&bits, &guess, sizeof bits);
    bits = ((bits >> 32) + 1) << 32; /* chopped to 20 bits and made larger than the root */
    memcpy(&guess, &bits, sizeof bits);
    s = guess * guess;
    r = size / s;
    double w = guess + guess;
    r = (r - guess) / (w + r);
    guess = guess + guess * r;
    return x < 0 ? -guess : guess;
}

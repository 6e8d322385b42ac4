#include <stdio.h>
#define MAX(a, b) \
  ((a) > (b) ? (a) : (b))

typedef struct {
  int a;
} anon_t;

typedef struct tag_s {
  int b;
} tag_t;

static FORCE_INLINE int f(int x) {
  return x;
}

#ifdef WIN
int g(int a) {
#else
int g(int a, int b) {
#endif
  if (a) {
    return 1;
  }
  return 0;
}

#if A
int whole(void) { return 1; }
#else
int whole(void) { return 2; }
#endif

int (*pick(int which))(int) {
  return 0;
}

EXPORT(static void h(struct heap* heap)) {
}

UV_EXTERN int proto(const char* a);

TEST_IMPL(timer) {
  return 0;
}

static const struct opt table[] = {
  { 1 },
};

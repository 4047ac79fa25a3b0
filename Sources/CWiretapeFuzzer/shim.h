#pragma once
#include <stddef.h>
#include <stdint.h>

/* libFuzzer's entry for programs with a main of their own. The library has no header for it. */
int LLVMFuzzerRunDriver(int *argc, char ***argv, int (*one)(const uint8_t *data, size_t size));

// What the library needs of libzstd's decoder, as exports of a WebAssembly module without imports. One decoder a module: its state is
// static, and whoever calls owns the memory from `heap` on.

#include "zstd.c"

#include "pairs.c"

#define EXPORT(name) __attribute__((export_name(#name))) name

static ZSTD_DCtx context;
static size_t pairSize;

extern unsigned char __heap_base;

// First byte of the memory that the decoder does not use itself.
unsigned char* EXPORT(heap)(void) { return &__heap_base; }

// Starts over with a frame's header, whatever came before.
void EXPORT(begin)(void) {
  ZSTD_initStaticDCtx(&context, sizeof context);
  ZSTD_decompressBegin(&context);
}

// Bytes that `decode` takes next, exactly; 0 where the frame has ended.
unsigned EXPORT(needed)(void) { return (unsigned)ZSTD_nextSrcSizeToDecompress(&context); }

// Decodes a header, a block or a checksum. Gives the decoded bytes that were put at `to`, or a ZSTD_ErrorCode, negated.
int EXPORT(decode)(void* to, unsigned room, const void* from, unsigned byteLength) {
  return (int)ZSTD_decompressContinue(&context, to, room, from, byteLength);
}

// Decodes the next two blocks at once, where that can be done. Gives what `decode` gives, and 0 where it did nothing.
int EXPORT(decodePair)(void* to, unsigned room, const void* from, unsigned byteLength) {
  return (int)decodePlainPair(&context, to, room, from, byteLength, &pairSize);
}

// Compressed bytes that the last pair took, or that would have to be there to say whether there is one; 0 where there is none.
unsigned EXPORT(pairBytes)(void) { return pairSize; }

// Smallest ring that blocks can be decoded into one after the other.
double EXPORT(ringBytes)(double windowSize, double decodedLength) {
  return (double)ZSTD_decodingBufferSize_min((unsigned long long)windowSize, (unsigned long long)decodedLength);
}

// The state is static, so nothing is ever allocated; libzstd names these where it would be.
void* malloc(size_t byteLength) {
  (void)byteLength;
  return NULL;
}

void* calloc(size_t count, size_t byteLength) {
  (void)count;
  (void)byteLength;
  return NULL;
}

void free(void* address) { (void)address; }

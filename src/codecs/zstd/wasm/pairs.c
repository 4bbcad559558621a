// Decodes two blocks at once. A block of float weights is mostly Huffman-coded literals and nothing else, in four streams; each code's length
// is known only when it was looked up, so a core waits more than it works. Eight streams of two such blocks, which do not depend on each
// other, fill that time. Included behind zstd.c, whose parts it uses.

#define STREAMS 4
#define JUMP_TABLE_SIZE 6 /* the first three streams' lengths */
#define TABLE_LOG 11 /* HUF_DECODER_FAST_TABLELOG, which libzstd widens narrower tables to */
#define TABLE_SIZE (1 << TABLE_LOG)
#define SYMBOLS_A_TURN 5 /* of at most 11 bits: what a 64-bit reader holds after a reload */
#define BYTES_A_TURN 7 /* that a stream moves on by then, at most */

// Code lengths, then symbols, by the next 11 bits: bytes, so that neither has to be cut out of a wider entry.
typedef BYTE Codes[2 * TABLE_SIZE];

// The literals of a block while they are decoded.
typedef struct {
  BIT_DStream_t in[STREAMS];
  BYTE* out[STREAMS];
  BYTE* end[STREAMS];
  const BYTE* codes;
} Literals;

static Codes codesOf[2];

// What a block is decoded with unless it has a table of its own; the one that is not the decoder's now is free.
static HUF_DTable spareTables[2][HUF_DTABLE_SIZE(ZSTD_HUFFDTABLE_CAPACITY_LOG)];

static HUF_DTable* freeTable(const ZSTD_DCtx* dctx) {
  HUF_DTable* table = spareTables[dctx->HUFptr == spareTables[0] ? 1 : 0];
  table[0] = (HUF_DTable)(ZSTD_HUFFDTABLE_CAPACITY_LOG - 1) * 0x01000001;
  return table;
}

// A block's sections, where it is only literals in four streams and its sequences section says 0.
typedef struct {
  const BYTE* literals;
  size_t literalsSize;
  size_t decodedSize;
  int repeatsTable;
} PlainBlock;

#define LITERALS_HEADER_SIZE 5 /* of literals that are as long as is worth it */

// What stands where a block's header is next.
typedef enum { someOtherBlock, aPlainBlock, aPartOfABlock } Found;

// Finds a block; `*needed` are the bytes that it takes, header included, or that have to be there to say more.
static Found findPlainBlock(PlainBlock* block, size_t* needed, const ZSTD_DCtx* dctx, const BYTE* src, size_t size) {
  blockProperties_t properties;
  *needed = ZSTD_blockHeaderSize;
  if (size < *needed) return aPartOfABlock;
  size_t const bodySize = ZSTD_getcBlockSize(src, size, &properties);
  if (ZSTD_isError(bodySize) || properties.blockType != bt_compressed || properties.lastBlock) return someOtherBlock;
  if (bodySize <= LITERALS_HEADER_SIZE || bodySize > ZSTD_blockSizeMax(dctx)) return someOtherBlock;
  *needed += bodySize;
  if (size < *needed) return aPartOfABlock;
  const BYTE* const body = src + ZSTD_blockHeaderSize;
  U32 const type = body[0] & 3, format = (body[0] >> 2) & 3;
  if ((type != set_compressed && type != set_repeat) || format != 3) return someOtherBlock;
  U64 const sizes = MEM_readLE32(body) | (U64)body[4] << 32;
  block->decodedSize = (size_t)(sizes >> 4) & 0x3FFFF;
  block->literalsSize = (size_t)(sizes >> 22);
  block->literals = body + LITERALS_HEADER_SIZE;
  block->repeatsTable = type == set_repeat;
  if (LITERALS_HEADER_SIZE + block->literalsSize + 1 != bodySize || body[bodySize - 1] != 0) return someOtherBlock;
  return block->decodedSize <= ZSTD_blockSizeMax(dctx) ? aPlainBlock : someOtherBlock;
}

// Makes the codes of a table, unless libzstd made it for two symbols at once.
static int spread(BYTE* codes, const HUF_DTable* table) {
  DTableDesc const description = HUF_getDTableDesc(table);
  if (description.tableType != 0 || description.tableLog != TABLE_LOG) return 0;
  const HUF_DEltX1* const entries = (const HUF_DEltX1*)(table + 1);
  for (int i = 0; i < TABLE_SIZE; i++) {
    codes[i] = entries[i].nbBits;
    codes[TABLE_SIZE + i] = entries[i].byte;
  }
  return 1;
}

// Reads table and stream starts. `table` holds the block's table afterwards. 0 where libzstd has to decode the block, or to say what is wrong.
static int openLiterals(Literals* literals, const PlainBlock* block, const HUF_DTable** table, HUF_DTable* own, ZSTD_DCtx* dctx, BYTE* to) {
  const BYTE* at = block->literals;
  size_t left = block->literalsSize;
  if (!block->repeatsTable) {
    size_t const tableSize = HUF_readDTableX1_wksp(own, at, left, dctx->workspace, sizeof dctx->workspace, 0);
    if (HUF_isError(tableSize) || tableSize >= left) return 0;
    *table = own;
    at += tableSize;
    left -= tableSize;
  }
  if (left < JUMP_TABLE_SIZE || block->decodedSize < MIN_LITERALS_FOR_4_STREAMS || !spread((BYTE*)literals->codes, *table)) return 0;
  size_t const segment = (block->decodedSize + 3) / STREAMS;
  const BYTE* const sizes = at;
  at += JUMP_TABLE_SIZE;
  left -= JUMP_TABLE_SIZE;
  for (int s = 0; s < STREAMS; s++) {
    size_t const size = s == STREAMS - 1 ? left : MEM_readLE16(sizes + 2 * s);
    if (size > left || ERR_isError(BIT_initDStream(&literals->in[s], at, size))) return 0;
    literals->out[s] = to + s * segment;
    literals->end[s] = s == STREAMS - 1 ? to + block->decodedSize : literals->out[s] + segment;
    at += size;
    left -= size;
  }
  return 1;
}

// Turns in which no stream can pass its start, nor its literals their end.
static size_t safeTurns(const Literals* literals) {
  size_t turns = (size_t)(literals->end[STREAMS - 1] - literals->out[STREAMS - 1]) / SYMBOLS_A_TURN;
  for (int s = 0; s < STREAMS; s++) {
    const BIT_DStream_t* const in = &literals->in[s];
    size_t const ofInput = (size_t)(in->ptr - in->start) / BYTES_A_TURN;
    if (ofInput < turns) turns = ofInput;
  }
  return turns;
}

// The reader's lowest set bit marks how much of it is used, as in libzstd's fast loop. clang takes the pointers apart unless they look changed.
#define LOAD(n, block, s)                                                  \
  const BYTE* in##n = (const BYTE*)block->in[s].ptr;                        \
  U64 bits##n = (block->in[s].bitContainer | 1) << block->in[s].bitsConsumed; \
  BYTE* out##n = block->out[s];
#define SYMBOL(n, codes, k)                       \
  do {                                            \
    const BYTE* const code = codes + (bits##n >> (64 - TABLE_LOG)); \
    BYTE const symbol = code[TABLE_SIZE];         \
    bits##n <<= code[0] & 63;                     \
    out##n[k] = symbol;                           \
  } while (0)
#define RELOAD(n)                                          \
  do {                                                     \
    unsigned const used = (unsigned)__builtin_ctzll(bits##n); \
    in##n -= used >> 3;                                    \
    bits##n = (MEM_read64(in##n) | 1) << (used & 7);       \
    out##n += SYMBOLS_A_TURN;                              \
    __asm__("" : "+r"(out##n));                            \
  } while (0)
#define TURN_OF_TWO(n, m, codes) \
  do {                           \
    SYMBOL(n, codes, 0);         \
    SYMBOL(m, codes, 0);         \
    SYMBOL(n, codes, 1);         \
    SYMBOL(m, codes, 1);         \
    SYMBOL(n, codes, 2);         \
    SYMBOL(m, codes, 2);         \
    SYMBOL(n, codes, 3);         \
    SYMBOL(m, codes, 3);         \
    SYMBOL(n, codes, 4);         \
    SYMBOL(m, codes, 4);         \
    RELOAD(n);                   \
    RELOAD(m);                   \
  } while (0)
#define STORE(n, block, s)                                       \
  do {                                                           \
    block->in[s].ptr = (const char*)in##n;                       \
    block->in[s].bitContainer = MEM_read64(in##n);               \
    block->in[s].bitsConsumed = (unsigned)__builtin_ctzll(bits##n); \
    block->out[s] = out##n;                                      \
  } while (0)

static void turn(Literals* a, Literals* b, size_t turns) {
  LOAD(0, a, 0) LOAD(1, a, 1) LOAD(2, a, 2) LOAD(3, a, 3)
  LOAD(4, b, 0) LOAD(5, b, 1) LOAD(6, b, 2) LOAD(7, b, 3)
  const BYTE* const codesA = codesOf[0];
  const BYTE* const codesB = codesOf[1];
  while (turns--) {
    TURN_OF_TWO(0, 1, codesA);
    TURN_OF_TWO(2, 3, codesA);
    TURN_OF_TWO(4, 5, codesB);
    TURN_OF_TWO(6, 7, codesB);
  }
  STORE(0, a, 0); STORE(1, a, 1); STORE(2, a, 2); STORE(3, a, 3);
  STORE(4, b, 0); STORE(5, b, 1); STORE(6, b, 2); STORE(7, b, 3);
}

// Decodes what is left, and says whether every stream ended where its literals did.
static int finish(Literals* literals) {
  int ended = 1;
  for (int s = 0; s < STREAMS; s++) {
    BIT_DStream_t* const in = &literals->in[s];
    for (BYTE* out = literals->out[s]; out < literals->end[s]; out++) {
      BIT_reloadDStream(in);
      const BYTE* const code = literals->codes + BIT_lookBitsFast(in, TABLE_LOG);
      *out = code[TABLE_SIZE];
      BIT_skipBits(in, code[0]);
    }
    BIT_reloadDStream(in);
    ended &= BIT_endOfDStream(in);
  }
  return ended;
}

// Decodes the next two blocks, where both are plain and all there, from the first one's header on. Gives the decoded bytes, or an error as
// libzstd has them; `*pairSize` are their compressed bytes then. Gives 0 where it decodes nothing: `*pairSize` is more than `size` where
// that many bytes would tell more, which come unless the blocks end before; else 0, and libzstd goes on by itself.
static size_t decodePlainPair(ZSTD_DCtx* dctx, BYTE* to, size_t room, const BYTE* src, size_t size, size_t* pairSize) {
  PlainBlock blocks[2];
  size_t sizes[2] = {0, 0};
  Found found = dctx->stage == ZSTDds_decodeBlockHeader ? findPlainBlock(&blocks[0], &sizes[0], dctx, src, size) : someOtherBlock;
  if (found == aPlainBlock) found = findPlainBlock(&blocks[1], &sizes[1], dctx, src + sizes[0], size - sizes[0]);
  *pairSize = found == someOtherBlock ? 0 : sizes[0] + sizes[1];
  if (found != aPlainBlock) return 0;

  size_t const compressed = *pairSize, decoded = blocks[0].decodedSize + blocks[1].decodedSize;
  Literals literals[2] = {{.codes = codesOf[0]}, {.codes = codesOf[1]}};
  const HUF_DTable* table = dctx->HUFptr;
  HUF_DTable* const own = freeTable(dctx);
  *pairSize = 0;
  if (decoded > room || (blocks[0].repeatsTable && !dctx->litEntropy)) return 0;
  if (!openLiterals(&literals[0], &blocks[0], &table, own, dctx, to)) return 0;
  if (!openLiterals(&literals[1], &blocks[1], &table, own, dctx, to + blocks[0].decodedSize)) return 0;
  for (;;) {
    size_t const turns = MIN(safeTurns(&literals[0]), safeTurns(&literals[1]));
    if (turns == 0) break;
    turn(&literals[0], &literals[1], turns);
  }
  if (!finish(&literals[0]) | !finish(&literals[1])) return ERROR(corruption_detected);

  ZSTD_checkContinuity(dctx, to, room);
  if (dctx->validateChecksum) XXH64_update(&dctx->xxhState, to, decoded);
  dctx->previousDstEnd = to + decoded;
  dctx->decodedSize += decoded;
  dctx->processedCSize += compressed;
  dctx->HUFptr = table;
  dctx->litEntropy = 1;
  *pairSize = compressed;
  return decoded;
}

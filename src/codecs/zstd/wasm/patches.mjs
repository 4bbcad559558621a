// @ts-check

/**
 * Changes to zstd's single file before it is compiled; `README.md` says what they bring. libzstd picks the width of its bit reader by the width of an address, which
 * WebAssembly has 32 bits of, beside registers of 64.
 * @type {readonly { why: string, from: string, to: string, count: number }[]}
 */
const replacements = [
  { why: "no threads", from: "#define ZSTD_MULTITHREAD\n", to: "", count: 1 },
  {
    why: "64-bit reader",
    from: "MEM_STATIC unsigned MEM_32bits(void) { return sizeof(size_t)==4; }",
    to: "MEM_STATIC unsigned MEM_32bits(void) { return 0; }",
    count: 1,
  },
  {
    why: "64-bit reader",
    from: "MEM_STATIC unsigned MEM_64bits(void) { return sizeof(size_t)==8; }",
    to: "MEM_STATIC unsigned MEM_64bits(void) { return 1; }",
    count: 1,
  },
  { why: "64-bit reader", from: "typedef size_t BitContainerType;", to: "typedef U64 BitContainerType;", count: 1 },
  { why: "64-bit reader", from: "MEM_STATIC size_t MEM_readLEST(", to: "MEM_STATIC U64 MEM_readLEST(", count: 2 },
  { why: "64-bit reader", from: "return (size_t)MEM_readLE64(memPtr);", to: "return MEM_readLE64(memPtr);", count: 1 },
  { why: "64-bit reader", from: "MEM_writeLEST(void* memPtr, size_t val)", to: "MEM_writeLEST(void* memPtr, U64 val)", count: 2 },
  { why: "64-bit reader", from: "MEM_STATIC size_t BIT_readBitsFast(", to: "MEM_STATIC BitContainerType BIT_readBitsFast(", count: 1 },
  {
    why: "what one turn of the Huffman loop writes with a 64-bit reader has to fit, too",
    from: "(size_t)(oend - op4) >= sizeof(size_t)",
    to: "(size_t)(oend - op4) >= sizeof(U64)",
    count: 2,
  },
  {
    why: "what one turn of the Huffman loop writes with a 64-bit reader has to fit, too",
    from: "BYTE* const olimit = oend - (sizeof(size_t)-1);",
    to: "BYTE* const olimit = oend - (sizeof(U64)-1);",
    count: 1,
  },
  {
    why: "addresses still have 32 bits, so they still overflow",
    from: "(MEM_32bits() && (size_t)(oend - op) < sequenceLength + WILDCOPY_OVERLENGTH)",
    to: "((size_t)(oend - op) < sequenceLength + WILDCOPY_OVERLENGTH)",
    count: 2,
  },
  {
    why: "a block without sequences is its literals: decode them to where they belong, not to a buffer from which they are copied",
    from: "                /* prefetch huffman table if cold */\n",
    to: `                if (lhSize + litCSize + 1 == srcSize) {
                    dctx->litBuffer = (BYTE*)dst;
                    dctx->litBufferEnd = dctx->litBuffer + litSize;
                    dctx->litBufferLocation = ZSTD_not_in_dst;
                }
`,
    count: 1,
  },
  {
    why: "such a block is done",
    from: "        dctx->ddictIsCold = 0;\n\n#if",
    to: "        dctx->ddictIsCold = 0;\n        if (nbSeq == 0 && dctx->litPtr == (const BYTE*)dst) return dctx->litSize;\n\n#if",
    count: 1,
  },
];

/** Parts that only compress; without them the compiler takes a fifth of the time. */
const unused = [
  { from: "/**** start inlining compress/fse_compress.c ****/", to: "/**** start inlining decompress/huf_decompress.c ****/" },
  { from: "/**** start inlining dictBuilder/cover.c ****/", to: undefined },
];

/**
 * zstd's single file as it is compiled.
 * @param {string} source
 * @throws {Error} where a change does not find what it changes, exactly as often as it stands in the pinned source.
 */
export function patched(source) {
  const changed = replacements.reduce((text, { why, from, to, count }) => {
    const pieces = text.split(from);
    if (pieces.length !== count + 1) throw new Error(`"${from}" stands ${pieces.length - 1} times in zstd's source, not ${count} (${why})`);
    return pieces.join(to);
  }, source);
  return unused.reduce(
    (text, { from, to }) => text.slice(0, placeOf(text, from)) + (to === undefined ? "" : text.slice(placeOf(text, to))),
    changed,
  );
}

/** @param {string} text @param {string} marker */
function placeOf(text, marker) {
  const place = text.indexOf(marker);
  if (place < 0) throw new Error(`"${marker}" does not stand in zstd's source`);
  return place;
}

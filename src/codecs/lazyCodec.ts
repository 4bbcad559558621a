import type { Codec } from "./codec.js";

/** A codec whose code is loaded when something is to be decoded. */
export function lazyCodec(name: string, load: () => Promise<Codec>): Codec {
  let loading: Promise<Codec> | undefined;
  const loaded = (): Promise<Codec> => {
    loading ??= load().catch((error: unknown) => {
      loading = undefined;
      throw error;
    });
    return loading;
  };
  return {
    name,
    decode: async (bytes, request, context) => (await loaded()).decode(bytes, request, context),
    async *stream(pieces, request, context) {
      yield* (await loaded()).stream(pieces, request, context);
    },
  };
}

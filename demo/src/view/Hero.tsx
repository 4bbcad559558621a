import { Brand } from "./Brand.js";

/** What the library is, in a headline and a sentence. */
export function Hero() {
  return (
    <header class="hero">
      <Brand page="restore" />
      <h1>JAX checkpoints, straight into WebGPU buffers</h1>
      <p class="lead">
        Restores what Orbax and substrax saved in Python, over plain HTTP, onto the GPU of whoever opens your page: bit for bit, every
        dtype, bounded memory, no Python and no conversion.
      </p>
    </header>
  );
}

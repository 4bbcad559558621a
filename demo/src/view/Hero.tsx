/** What the library is, in a headline and a sentence. */
export function Hero() {
  return (
    <header class="hero">
      <p class="brand">
        <svg viewBox="0 0 8 8" aria-hidden="true" focusable="false">
          <path d="M2 1h4v1h1v4h-1v1h-4v-1h-1v-4h1zM3 3v2h2v-2z" />
        </svg>
        orbax-webgpu
        <code>npm install orbax-webgpu</code>
      </p>
      <h1>JAX checkpoints, straight into WebGPU buffers</h1>
      <p class="lead">
        Restores what Orbax and substrax saved in Python, over plain HTTP, onto the GPU of whoever opens your page: bit for bit, every
        dtype, bounded memory, no Python and no conversion.
      </p>
    </header>
  );
}

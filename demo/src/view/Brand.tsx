const pages = { restore: { href: "./", name: "Restore" }, train: { href: "./train.html", name: "Train" } } as const;

/** The library's name, and the way to the other page. */
export function Brand({ page }: { readonly page: keyof typeof pages }) {
  return (
    <div class="brand">
      <svg viewBox="0 0 8 8" aria-hidden="true" focusable="false">
        <path d="M2 1h4v1h1v4h-1v1h-4v-1h-1v-4h1zM3 3v2h2v-2z" />
      </svg>
      orbax-webgpu
      <nav aria-label="Demos">
        {Object.entries(pages).map(([key, { href, name }]) => (
          <a key={key} href={href} aria-current={key === page ? "page" : undefined}>
            {name}
          </a>
        ))}
      </nav>
      <code>npm install orbax-webgpu</code>
    </div>
  );
}

const tokens = /(\/\/.*)|("[^"]*")|\b(import|from|const|await|new)\b|\b(\d+)\b/g;
const kinds = ["comment", "string", "keyword", "number"];

/** What a page does with the library. */
export function CodeExample({ text }: { readonly text: string }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: long lines are scrolled with the keyboard
    <section class="code" tabIndex={0} aria-label="Ten lines of code">
      <pre>
        <code>{coloured(text)}</code>
      </pre>
    </section>
  );
}

function coloured(text: string) {
  const parts = [];
  let end = 0;
  for (const match of text.matchAll(tokens)) {
    const kind = kinds[match.slice(1).findIndex((group) => group !== undefined)];
    parts.push(text.slice(end, match.index), <span class={kind}>{match[0]}</span>);
    end = match.index + match[0].length;
  }
  return [...parts, text.slice(end)];
}

// URLs of a page with other parameters, and cursors of lists in them.

/** The URL of this page with changed parameters; an empty value removes one. */
export function withQuery(path: string, query: Record<string, string>, changes: Record<string, string | undefined>): string {
  const words = new URLSearchParams(query);
  for (const [name, value] of Object.entries(changes)) {
    if (value) words.set(name, value);
    else words.delete(name);
  }
  const text = words.toString();
  return `${path}${text && '?'}${text}`;
}

export function cursorText(params: Record<string, string | number | null>): string {
  const words = new URLSearchParams();
  for (const [name, value] of Object.entries(params)) if (value !== null) words.set(name, String(value));
  return words.toString();
}

// The files of the built page.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const dist = process.env['TRAWL_WEB_OUT'] ?? fileURLToPath(new URL('../dist', import.meta.url));

/** Paths below `folder`, sorted, so that results are reproducible. */
export function files(folder = dist) {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name)).sort();
}

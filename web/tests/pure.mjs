// All tests of functions in one process: the compiler of TypeScript is loaded once.
import { readdir } from 'node:fs/promises';

const folder = new URL('pure/', import.meta.url);
for (const file of (await readdir(folder)).filter((name) => name.endsWith('.test.mjs')).sort()) await import(new URL(file, folder));

// Lets node read TypeScript, also where it does not by itself (before release 22): types are taken away, nothing is checked.
import { register } from 'node:module';

const hooks = `
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { transformWithOxc } from ${JSON.stringify(import.meta.resolve('vite'))};
export async function load(url, context, next) {
  if (!/\\.tsx?$/.test(url)) return next(url, context);
  const path = fileURLToPath(url);
  const { code } = await transformWithOxc(await readFile(path, 'utf8'), path);
  return { format: 'module', shortCircuit: true, source: code };
}`;
register(`data:text/javascript,${encodeURIComponent(hooks)}`);

// Checks the sizes of the built files, compressed with brotli, against their budget.
import { readFileSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { dist, files } from './files.mjs';

const KB = 1024;
const LIMITS = { 'first script': 40 * KB, 'first style': 8 * KB, 'largest route': 70 * KB, 'all files': 220 * KB };

const names = files().filter((file) => !/\.(br|gz)$/.test(file));
const size = (file) => statSync(`${file}.br`).size;
const index = readFileSync(join(dist, 'index.html'), 'utf8');
const byName = new Map(names.map((file) => [basename(file), file]));

/** A file and everything that it imports statically, directly or not. */
function withStatic(file, visited = new Set()) {
  if (visited.has(file)) return visited;
  visited.add(file);
  if (!file.endsWith('.js')) return visited;
  for (const [, name] of readFileSync(file, 'utf8').matchAll(/(?:from|import)\s*["']\.\/([\w.-]+)["']/g)) {
    const other = byName.get(name);
    if (other) withStatic(other, visited);
  }
  return visited;
}

const first = new Set();
for (const [, name] of index.matchAll(/(?:src|href)="\/_\/assets\/([\w.-]+\.(?:js|css))"/g)) {
  for (const file of withStatic(byName.get(name))) first.add(file);
}
const sum = (list) => list.reduce((all, file) => all + size(file), 0);
const firstFiles = [...first];
const chart = names.filter((file) => /uplot/i.test(basename(file)));
const routes = names.filter((file) => /\/(Block|Tx|Accounts|Address|Token|Tokens|Search|Scan|Charts|Sql|Status|Tools|Names|Operations|Contract|Source|BalanceChart|Activity)-[\w-]+\.js$/.test(file)).map((page) => {
  const loaded = new Set([...first, ...withStatic(page), ...(/Scan|Charts|Sql|BalanceChart|Activity/.test(page) ? chart : [])]);
  return [basename(page), sum([...loaded])];
});
const sizes = {
  'first script': sum(firstFiles.filter((file) => file.endsWith('.js'))),
  'first style': sum(firstFiles.filter((file) => file.endsWith('.css'))),
  'largest route': Math.max(...routes.map(([, bytes]) => bytes)),
  'all files': sum(names),
};
let failed = firstFiles.length < 3 || routes.length < 4;
if (failed) console.error('budget: unexpected files', firstFiles, routes);
for (const [name, bytes] of Object.entries(sizes)) {
  const over = bytes > LIMITS[name];
  failed ||= over;
  console.log(`${name}: ${(bytes / KB).toFixed(1)} of ${LIMITS[name] / KB} KB${over ? ': too much' : ''}`);
}
process.exit(failed ? 1 : 0);

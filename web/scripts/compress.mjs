// Writes a brotli and a gzip version of each file of the built page next to it.
import { readFileSync, writeFileSync } from 'node:fs';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { files } from './files.mjs';

for (const file of files().filter((file) => !/\.(br|gz)$/.test(file))) {
  const bytes = readFileSync(file);
  const parameters = { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_LGWIN]: 22, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length };
  writeFileSync(`${file}.br`, brotliCompressSync(bytes, { params: parameters }));
  const zipped = gzipSync(bytes, { level: 9 });
  // The tenth byte names the system that wrote it, which must not change the file.
  zipped[9] = 255;
  writeFileSync(`${file}.gz`, zipped);
}

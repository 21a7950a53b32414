// Types of the API's answers, from its description: those that a module names as `api.…`, and what they refer to.
// Arguments: the description, the module, and the file to write.
import { readFileSync, writeFileSync } from 'node:fs';
import openapiTypes, { astToString } from 'openapi-typescript';
import { parse } from 'yaml';

const [description, uses, output] = process.argv.slice(2);
const document = parse(readFileSync(description, 'utf8'), { merge: true });
const schemas = {};

function take(name) {
  if (name in schemas) return;
  schemas[name] = document.components.schemas[name];
  if (!schemas[name]) throw new Error(`${uses}: ${description} has no schema ${name}`);
  takeReferred(schemas[name]);
}

function takeReferred(value) {
  if (value === null || typeof value !== 'object') return;
  const name = typeof value.$ref === 'string' && value.$ref.match(/^#\/components\/schemas\/(\w+)$/)?.[1];
  if (name) take(name);
  Object.values(value).forEach(takeReferred);
}

for (const [, name] of readFileSync(uses, 'utf8').matchAll(/\bapi\.(\w+)/g)) take(name);
const { openapi, info } = document;
const options = { alphabetize: true, emptyObjectsUnknown: true };
const tree = await openapiTypes({ openapi, info, paths: {}, components: { schemas } }, options);
const types = astToString(tree)
  .match(/ {4}schemas: \{\n([^]*?)\n {4}\};/)[1]
  .replace(/^ {8}/gm, '')
  .replace(/^(?: {4})+/gm, (spaces) => ' '.repeat(spaces.length / 2))
  .replace(/components\["schemas"\]\["(\w+)"\]/g, '$1')
  .replace(/^(\w+): /gm, '\nexport type $1 = ')
  .replace(/^(\/\*\*[^]*?\*\/)\n\n/gm, '\n$1\n');
writeFileSync(output, `// Made by \`cargo xtask types\` of docs/reference/openapi.yaml.\n${types}\n`);
